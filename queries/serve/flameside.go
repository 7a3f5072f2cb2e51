package serve

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"
)

// flameSides are the trees that a flame graph can show instead of the one from the root (its other sides). `inverted`
// has the functions by exclusive value, with their callers below. `callers` and `callees` start at one function, or
// at all functions of a module or load object: a sample counts once, where its stack first enters them.
var flameSides = []string{"inverted", "callers", "callees"}

// flameGroups are the kinds of things that `callers` and `callees` can start at.
var flameGroups = []string{"function", "module", "load-object"}

// flameSide says which side of a flame graph is requested.
type flameSide struct {
	side  string // one of flameSides; "" for the tree from the root
	group string // one of flameGroups
	of    string // the name of the function, module or load object
}

// flameSide returns the side that a call requests.
func (c *call) flameSide() (flameSide, error) {
	s := flameSide{c.values.Get("side"), cmp.Or(c.values.Get("group"), flameGroups[0]), c.values.Get("of")}
	if around := s.side == "callers" || s.side == "callees"; around != c.values.Has("of") {
		return s, badRequest(fmt.Errorf("of: side callers and callees need it, other sides do not take it"))
	} else if !around && c.values.Has("group") {
		return s, badRequest(fmt.Errorf("group: give it only if side is callers or callees"))
	}
	return s, nil
}

// has reports whether a function belongs to the requested function, module or load object.
func (s *flameSide) has(n functionName) bool {
	switch s.group {
	case "module":
		return s.isPath(n.module) && n.kind != "artificial"
	case "load-object":
		return s.isPath(n.loadObject) && n.kind != "artificial"
	}
	return n.function == s.of
}

// isPath reports whether a short path is the requested path or ends in it.
func (s *flameSide) isPath(short string) bool {
	rest, ok := strings.CutSuffix(short, s.of)
	return ok && (rest == "" || strings.HasSuffix(rest, "/"))
}

// treeValue is a node of the whole tree, and the part of its value that belongs to a node of a side.
type treeValue struct {
	node  int32
	value int64
}

// sideNode is a node of a side under construction.
type sideNode struct {
	flameShown
	parent  int32 // -1 for the root
	origins []treeValue
	callees int // number of children that are not chosen
}

// sideBuilder builds a side of a tree. It starts at the root and always adds the node with the highest value next,
// because the complete side may have many times as many nodes as the tree.
type sideBuilder struct {
	*flameTree
	side     flameSide
	children [][]int32 // for callees: the children of each node of the whole tree
	nodes    []sideNode
	frontier []int32 // heap of the nodes that can be added next
}

// fromSide returns a side with at most `most` nodes, or only its root. `<N more>` counts only direct children that
// are left out.
func (t *flameTree) fromSide(from flameSide, most int) flameCut {
	g := &sideBuilder{flameTree: t, side: from}
	g.addRoot()
	var order []int32
	shown := 0
	for len(g.frontier) > 0 {
		n := heap.Pop(g).(int32)
		g.expand(n)
		shown++
		if g.nodes[n].callees > 0 {
			shown++ // for `<N more>` below it
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

func (g *sideBuilder) addRoot() {
	if len(g.flameTree.nodes) == 0 {
		return
	}
	root := sideNode{parent: -1, flameShown: flameShown{name: g.flameTree.nodes[0].name}}
	if g.side.side == "inverted" {
		for i, n := range g.flameTree.nodes {
			if n.exclusive != 0 {
				root.origins = append(root.origins, treeValue{int32(i), n.exclusive})
			}
		}
	} else {
		root.name = g.rootName()
		within := make([]bool, len(g.flameTree.nodes)) // by node: it or a caller is in the function, module or load object
		for i, n := range g.flameTree.nodes {
			within[i] = n.parent >= 0 && within[n.parent]
			if within[i] || !g.side.has(g.functions[n.name]) {
				continue
			}
			within[i] = true
			at := int32(i)
			if g.side.side == "callers" {
				at = n.parent
			}
			root.origins = append(root.origins, treeValue{at, n.value})
		}
	}
	for _, p := range root.origins {
		root.value += p.value
	}
	if g.side.side == "callees" {
		g.children = make([][]int32, len(g.flameTree.nodes))
		for i, n := range g.flameTree.nodes {
			if n.parent >= 0 {
				g.children[n.parent] = append(g.children[n.parent], int32(i))
			}
		}
		root.origins = g.addInnerCalls(root.origins)
	}
	g.nodes, g.frontier = []sideNode{root}, []int32{0}
}

// rootName returns the index of the name that the root shows: the selected function, module or load object.
func (g *sideBuilder) rootName() int32 {
	first := functionName{function: g.side.of, kind: "artificial"}
	if i := slices.IndexFunc(g.functions, g.side.has); i >= 0 {
		first = g.functions[i]
	}
	switch g.side.group {
	case "module":
		first = functionName{g.side.of, first.loadObject, g.side.of, g.side.group}
	case "load-object":
		first = functionName{g.side.of, g.side.of, "", g.side.group}
	}
	return g.intern(first)
}

// addInnerCalls adds the nodes of functions that are called within the module or load object: they are shown as one
// frame with their callers.
func (g *sideBuilder) addInnerCalls(places []treeValue) []treeValue {
	if g.side.group == "function" {
		return places
	}
	for i := 0; i < len(places); i++ {
		for _, n := range g.children[places[i].node] {
			if g.side.has(g.functions[g.flameTree.nodes[n].name]) {
				places = append(places, treeValue{n, 0}) // 0: its value is included in its caller's
			}
		}
	}
	return places
}

// expand adds the children of a node to the frontier.
func (g *sideBuilder) expand(n int32) {
	of := map[int32]int32{} // the children by name
	add := func(name int32, p treeValue) {
		m, ok := of[name]
		if !ok {
			m = int32(len(g.nodes))
			of[name] = m
			g.nodes = append(g.nodes, sideNode{parent: n, flameShown: flameShown{name: name}})
		}
		g.nodes[m].value += p.value
		g.nodes[m].origins = append(g.nodes[m].origins, p)
	}
	first := len(g.nodes)
	for _, p := range g.nodes[n].origins {
		at := &g.flameTree.nodes[max(p.node, 0)]
		switch {
		case g.side.side == "callees":
			g.nodes[n].exclusive += at.exclusive
			for _, m := range g.children[p.node] {
				callee := &g.flameTree.nodes[m]
				if n != 0 || g.side.group == "function" || !g.side.has(g.functions[callee.name]) {
					add(callee.name, treeValue{m, callee.value})
				}
			}
		case p.node <= 0: // <Total> is not a caller
			g.nodes[n].exclusive += p.value
		default:
			add(at.name, treeValue{at.parent, p.value})
		}
	}
	g.nodes[n].origins = nil
	g.nodes[n].callees = len(g.nodes) - first
	for m := first; m < len(g.nodes); m++ {
		heap.Push(g, int32(m))
	}
}

// cut returns the chosen nodes in drawing order.
func (g *sideBuilder) cut(order []int32) flameCut {
	in := make([]bool, len(g.nodes))
	for _, n := range order {
		in[n] = true
	}
	rest := map[int32]int64{} // sums of left-out children, by parent
	for n, x := range g.nodes {
		if !in[n] && x.parent >= 0 && in[x.parent] {
			rest[x.parent] += x.value
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &g.nodes[a], &g.nodes[b]
		return cmp.Or(cmp.Compare(x.parent, y.parent), cmp.Compare(y.value, x.value), compareNames(g.functions[x.name], g.functions[y.name]))
	})
	c := flameCut{flameTree: g.flameTree}
	walkInOrder(order, func(n int32) int32 { return g.nodes[n].parent }, func(n int32) bool { return g.nodes[n].callees > 0 }, func(n, level int32) {
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

// Len, Less, Swap, Push and Pop implement heap.Interface for the frontier: the node with the highest value is the
// first.
func (g *sideBuilder) Len() int { return len(g.frontier) }

func (g *sideBuilder) Less(i, j int) bool {
	a, b := g.frontier[i], g.frontier[j]
	return cmp.Or(cmp.Compare(g.nodes[b].value, g.nodes[a].value), compareNames(g.functions[g.nodes[a].name], g.functions[g.nodes[b].name]), cmp.Compare(a, b)) < 0
}

func (g *sideBuilder) Swap(i, j int) { g.frontier[i], g.frontier[j] = g.frontier[j], g.frontier[i] }

func (g *sideBuilder) Push(n any) { g.frontier = append(g.frontier, n.(int32)) }

func (g *sideBuilder) Pop() any {
	n := g.frontier[len(g.frontier)-1]
	g.frontier = g.frontier[:len(g.frontier)-1]
	return n
}
