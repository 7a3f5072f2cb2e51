package flametree

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
)

// Sides are the trees that a flame graph can show instead of the one from the root (its other sides). `inverted`
// has the functions by exclusive value, with their callers below. `callers` and `callees` start at one function, or
// at all functions of a module or load object: a sample counts once, where its stack first enters them.
var Sides = []string{"inverted", "callers", "callees"}

// Groups are the kinds of things that `callers` and `callees` can start at.
var Groups = []string{"function", "module", "load-object"}

// Side selects a side of a flame graph.
type Side struct {
	Side  string // one of Sides; "" for the tree from the root
	Group string // one of Groups
	Of    string // the name of the function, module or load object
}

// has reports whether a function belongs to the requested function, module or load object.
func (s *Side) has(n Function) bool {
	switch s.Group {
	case "module":
		return s.isPath(n.Module) && n.Kind != "artificial"
	case "load-object":
		return s.isPath(n.LoadObject) && n.Kind != "artificial"
	}
	return n.Name == s.Of
}

// isPath reports whether a short path is the requested path or ends in it.
func (s *Side) isPath(short string) bool {
	rest, ok := strings.CutSuffix(short, s.Of)
	return ok && (rest == "" || strings.HasSuffix(rest, "/"))
}

// treeValue is a node of the whole tree, and the part of its value that belongs to a node of a side.
type treeValue struct {
	node  int32
	value int64
}

// sideNode is a node of a side under construction.
type sideNode struct {
	ShownNode
	parent  int32 // -1 for the root
	origins []treeValue
	callees int // number of children that are not chosen
}

// sideBuilder builds a side of a tree. It starts at the root and always adds the node with the highest value next,
// because the complete side may have many times as many nodes as the tree.
type sideBuilder struct {
	*Tree
	side     Side
	children [][]int32 // for callees: the children of each node of the whole tree
	nodes    []sideNode
	frontier []int32 // heap of the nodes that can be added next
}

// FromSide returns a side with at most `most` nodes, or only its root. `<N more>` counts only direct children that
// are left out.
func (t *Tree) FromSide(from Side, most int) Cut {
	g := &sideBuilder{Tree: t, side: from}
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
	if len(g.Tree.Nodes) == 0 {
		return
	}
	root := sideNode{parent: -1, ShownNode: ShownNode{Name: g.Tree.Nodes[0].Name}}
	if g.side.Side == "inverted" {
		for i, n := range g.Tree.Nodes {
			if n.Exclusive != 0 {
				root.origins = append(root.origins, treeValue{int32(i), n.Exclusive})
			}
		}
	} else {
		root.Name = g.rootName()
		within := make([]bool, len(g.Tree.Nodes)) // by node: it or a caller is in the function, module or load object
		for i, n := range g.Tree.Nodes {
			within[i] = n.Parent >= 0 && within[n.Parent]
			if within[i] || !g.side.has(g.Functions[n.Name]) {
				continue
			}
			within[i] = true
			at := int32(i)
			if g.side.Side == "callers" {
				at = n.Parent
			}
			root.origins = append(root.origins, treeValue{at, n.Value})
		}
	}
	for _, p := range root.origins {
		root.Value += p.value
	}
	if g.side.Side == "callees" {
		g.children = make([][]int32, len(g.Tree.Nodes))
		for i, n := range g.Tree.Nodes {
			if n.Parent >= 0 {
				g.children[n.Parent] = append(g.children[n.Parent], int32(i))
			}
		}
		root.origins = g.addInnerCalls(root.origins)
	}
	g.nodes, g.frontier = []sideNode{root}, []int32{0}
}

// rootName returns the index of the name that the root shows: the selected function, module or load object.
func (g *sideBuilder) rootName() int32 {
	first := Function{Name: g.side.Of, Kind: "artificial"}
	if i := slices.IndexFunc(g.Functions, g.side.has); i >= 0 {
		first = g.Functions[i]
	}
	switch g.side.Group {
	case "module":
		first = Function{g.side.Of, first.LoadObject, g.side.Of, g.side.Group}
	case "load-object":
		first = Function{g.side.Of, g.side.Of, "", g.side.Group}
	}
	return g.Intern(first)
}

// addInnerCalls adds the nodes of functions that are called within the module or load object: they are shown as one
// frame with their callers.
func (g *sideBuilder) addInnerCalls(places []treeValue) []treeValue {
	if g.side.Group == "function" {
		return places
	}
	for i := 0; i < len(places); i++ {
		for _, n := range g.children[places[i].node] {
			if g.side.has(g.Functions[g.Tree.Nodes[n].Name]) {
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
			g.nodes = append(g.nodes, sideNode{parent: n, ShownNode: ShownNode{Name: name}})
		}
		g.nodes[m].Value += p.value
		g.nodes[m].origins = append(g.nodes[m].origins, p)
	}
	first := len(g.nodes)
	for _, p := range g.nodes[n].origins {
		at := &g.Tree.Nodes[max(p.node, 0)]
		switch {
		case g.side.Side == "callees":
			g.nodes[n].Exclusive += at.Exclusive
			for _, m := range g.children[p.node] {
				callee := &g.Tree.Nodes[m]
				if n != 0 || g.side.Group == "function" || !g.side.has(g.Functions[callee.Name]) {
					add(callee.Name, treeValue{m, callee.Value})
				}
			}
		case p.node <= 0: // <Total> is not a caller
			g.nodes[n].Exclusive += p.value
		default:
			add(at.Name, treeValue{at.Parent, p.value})
		}
	}
	g.nodes[n].origins = nil
	g.nodes[n].callees = len(g.nodes) - first
	for m := first; m < len(g.nodes); m++ {
		heap.Push(g, int32(m))
	}
}

// cut returns the chosen nodes in drawing order.
func (g *sideBuilder) cut(order []int32) Cut {
	in := make([]bool, len(g.nodes))
	for _, n := range order {
		in[n] = true
	}
	rest := map[int32]int64{} // sums of left-out children, by parent
	for n, x := range g.nodes {
		if !in[n] && x.parent >= 0 && in[x.parent] {
			rest[x.parent] += x.Value
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &g.nodes[a], &g.nodes[b]
		return cmp.Or(cmp.Compare(x.parent, y.parent), cmp.Compare(y.Value, x.Value), compareNames(g.Functions[x.Name], g.Functions[y.Name]))
	})
	c := Cut{Tree: g.Tree}
	WalkInOrder(order, func(n int32) int32 { return g.nodes[n].parent }, func(n int32) bool { return g.nodes[n].callees > 0 }, func(n, level int32) {
		s := ShownNode{Name: -1}
		if n >= 0 {
			s = g.nodes[n].ShownNode
		} else {
			s.More, s.Value, s.Exclusive = g.nodes[^n].callees, rest[^n], rest[^n]
		}
		s.Level = level
		c.Shown = append(c.Shown, s)
	})
	return c
}

// Len, Less, Swap, Push and Pop implement heap.Interface for the frontier: the node with the highest value is the
// first.
func (g *sideBuilder) Len() int { return len(g.frontier) }

func (g *sideBuilder) Less(i, j int) bool {
	a, b := g.frontier[i], g.frontier[j]
	return cmp.Or(cmp.Compare(g.nodes[b].Value, g.nodes[a].Value), compareNames(g.Functions[g.nodes[a].Name], g.Functions[g.nodes[b].Name]), cmp.Compare(a, b)) < 0
}

func (g *sideBuilder) Swap(i, j int) { g.frontier[i], g.frontier[j] = g.frontier[j], g.frontier[i] }

func (g *sideBuilder) Push(n any) { g.frontier = append(g.frontier, n.(int32)) }

func (g *sideBuilder) Pop() any {
	n := g.frontier[len(g.frontier)-1]
	g.frontier = g.frontier[:len(g.frontier)-1]
	return n
}
