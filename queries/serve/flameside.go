package serve

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"
)

// flameSides are what a flame graph may be seen from, besides its root: `inverted` has what
// each function has itself, and its callers below it; `callers` and `callees` are around one
// function, or all of a module or a load object, which each sample enters once.
var flameSides = []string{"inverted", "callers", "callees"}

// flameGroups are what callers and callees may be of.
var flameGroups = []string{"function", "module", "load-object"}

// flameSide is a side that is asked for.
type flameSide struct {
	side  string // one of flameSides; empty for the root's
	group string // one of flameGroups
	of    string // the name of the function, module or load object
}

// flameSide is the side that a call asks for.
func (c *call) flameSide() (flameSide, error) {
	s := flameSide{c.values.Get("side"), cmp.Or(c.values.Get("group"), flameGroups[0]), c.values.Get("of")}
	if around := s.side == "callers" || s.side == "callees"; around != c.values.Has("of") {
		return s, wrong(fmt.Errorf("of: side=callers and side=callees want what they are around, and nothing else does"))
	} else if !around && c.values.Has("group") {
		return s, wrong(fmt.Errorf("group: side=callers and side=callees have one, and nothing else does"))
	}
	return s, nil
}

// has reports whether a function is one that callers and callees are of.
func (s *flameSide) has(n flameName) bool {
	switch s.group {
	case "module":
		return s.isPath(n.module) && n.kind != "artificial"
	case "load-object":
		return s.isPath(n.loadObject) && n.kind != "artificial"
	}
	return n.function == s.of
}

// isPath reports whether a short path is what was asked for, or ends in it.
func (s *flameSide) isPath(short string) bool {
	rest, ok := strings.CutSuffix(short, s.of)
	return ok && (rest == "" || strings.HasSuffix(rest, "/"))
}

// flamePlace is a node of the whole tree that a path of another side has come to, and what
// of its value has come that way.
type flamePlace struct {
	node  int32
	value int64
}

// flameGrown is a node of another side while that grows.
type flameGrown struct {
	flameShown
	parent  int32 // -1 for the root
	places  []flamePlace
	callees int // that are left out
}

// growth makes another side of a tree, from its root, those nodes first that have the highest
// values: the whole of it may have many times as many nodes as the tree.
type growth struct {
	*flameTree
	side     flameSide
	below    [][]int32 // the nodes below each of the tree, if callees are asked for
	nodes    []flameGrown
	frontier []int32 // nodes that are not chosen yet, as a heap
}

// seen returns the tree from a side, with at most so many nodes, and the root. What is left
// out below a node is said to be as many as are directly below it.
func (t *flameTree) seen(from flameSide, most int) flameCut {
	g := &growth{flameTree: t, side: from}
	g.plant()
	var order []int32
	shown := 0
	for len(g.frontier) > 0 {
		n := heap.Pop(g).(int32)
		g.grow(n)
		shown++
		if g.nodes[n].callees > 0 {
			shown++ // `<N more>`
		}
		if p := g.nodes[n].parent; p >= 0 {
			if g.nodes[p].callees == 1 {
				shown--
			}
			if shown > most {
				break
			}
			g.nodes[p].callees--
		}
		order = append(order, n)
	}
	return g.cut(order)
}

// plant makes the root.
func (g *growth) plant() {
	if len(g.flameTree.nodes) == 0 {
		return
	}
	root := flameGrown{parent: -1, flameShown: flameShown{name: g.flameTree.nodes[0].name}}
	if g.side.side == "inverted" {
		for i, n := range g.flameTree.nodes {
			if n.exclusive != 0 {
				root.places = append(root.places, flamePlace{int32(i), n.exclusive})
			}
		}
	} else {
		root.name = g.rootName()
		within := make([]bool, len(g.flameTree.nodes)) // of nodes that are, or are below, what it is around
		for i, n := range g.flameTree.nodes {
			within[i] = n.parent >= 0 && within[n.parent]
			if within[i] || !g.side.has(g.named[n.name]) {
				continue
			}
			within[i] = true
			at := int32(i)
			if g.side.side == "callers" {
				at = n.parent
			}
			root.places = append(root.places, flamePlace{at, n.value})
		}
	}
	for _, p := range root.places {
		root.value += p.value
	}
	if g.side.side == "callees" {
		g.below = make([][]int32, len(g.flameTree.nodes))
		for i, n := range g.flameTree.nodes {
			if n.parent >= 0 {
				g.below[n.parent] = append(g.below[n.parent], int32(i))
			}
		}
		root.places = g.entered(root.places)
	}
	g.nodes, g.frontier = []flameGrown{root}, []int32{0}
}

// rootName is that of what callers and callees are of.
func (g *growth) rootName() int32 {
	first := flameName{function: g.side.of, kind: "artificial"}
	if i := slices.IndexFunc(g.named, g.side.has); i >= 0 {
		first = g.named[i]
	}
	switch g.side.group {
	case "module":
		first = flameName{g.side.of, first.loadObject, g.side.of, g.side.group}
	case "load-object":
		first = flameName{g.side.of, g.side.of, "", g.side.group}
	}
	return g.name(first)
}

// entered adds to the places where a module or a load object is entered those that it calls
// in itself: they are one frame.
func (g *growth) entered(places []flamePlace) []flamePlace {
	if g.side.group == "function" {
		return places
	}
	for i := 0; i < len(places); i++ {
		for _, n := range g.below[places[i].node] {
			if g.side.has(g.named[g.flameTree.nodes[n].name]) {
				places = append(places, flamePlace{n, 0}) // its value is the caller's
			}
		}
	}
	return places
}

// grow adds what is below a node.
func (g *growth) grow(n int32) {
	of := map[int32]int32{} // the nodes by their names
	add := func(name int32, p flamePlace) {
		m, ok := of[name]
		if !ok {
			m = int32(len(g.nodes))
			of[name] = m
			g.nodes = append(g.nodes, flameGrown{parent: n, flameShown: flameShown{name: name}})
		}
		g.nodes[m].value += p.value
		g.nodes[m].places = append(g.nodes[m].places, p)
	}
	first := len(g.nodes)
	for _, p := range g.nodes[n].places {
		at := &g.flameTree.nodes[max(p.node, 0)]
		switch {
		case g.side.side == "callees":
			g.nodes[n].exclusive += at.exclusive
			for _, m := range g.below[p.node] {
				callee := &g.flameTree.nodes[m]
				if n != 0 || g.side.group == "function" || !g.side.has(g.named[callee.name]) {
					add(callee.name, flamePlace{m, callee.value})
				}
			}
		case p.node <= 0: // <Total> is no caller
			g.nodes[n].exclusive += p.value
		default:
			add(at.name, flamePlace{at.parent, p.value})
		}
	}
	g.nodes[n].places = nil
	g.nodes[n].callees = len(g.nodes) - first
	for m := first; m < len(g.nodes); m++ {
		heap.Push(g, int32(m))
	}
}

// cut returns what is shown of the nodes that are chosen.
func (g *growth) cut(order []int32) flameCut {
	in := make([]bool, len(g.nodes))
	for _, n := range order {
		in[n] = true
	}
	rest := map[int32]int64{} // what is left out, by the node above
	for n, x := range g.nodes {
		if !in[n] && x.parent >= 0 && in[x.parent] {
			rest[x.parent] += x.value
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &g.nodes[a], &g.nodes[b]
		return cmp.Or(cmp.Compare(x.parent, y.parent), cmp.Compare(y.value, x.value), compareNames(g.named[x.name], g.named[y.name]))
	})
	c := flameCut{flameTree: g.flameTree}
	drawn(order, func(n int32) int32 { return g.nodes[n].parent }, func(n int32) bool { return g.nodes[n].callees > 0 }, func(n, level int32) {
		s := flameShown{name: -1}
		if n >= 0 {
			s = g.nodes[n].flameShown
		} else {
			s.more, s.value, s.exclusive = g.nodes[^n].callees, rest[^n], rest[^n]
		}
		s.level = level
		c.shown = append(c.shown, s)
	})
	return c
}

// Len, Less, Swap, Push and Pop implement heap.Interface of the frontier.
func (g *growth) Len() int { return len(g.frontier) }

func (g *growth) Less(i, j int) bool {
	a, b := g.frontier[i], g.frontier[j]
	return cmp.Or(cmp.Compare(g.nodes[b].value, g.nodes[a].value), compareNames(g.named[g.nodes[a].name], g.named[g.nodes[b].name]), cmp.Compare(a, b)) < 0
}

func (g *growth) Swap(i, j int) { g.frontier[i], g.frontier[j] = g.frontier[j], g.frontier[i] }

func (g *growth) Push(n any) { g.frontier = append(g.frontier, n.(int32)) }

func (g *growth) Pop() any {
	n := g.frontier[len(g.frontier)-1]
	g.frontier = g.frontier[:len(g.frontier)-1]
	return n
}
