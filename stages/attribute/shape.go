package attribute

import (
	"stackmill/schema"
	"stackmill/stages/symbolize"
)

// totalFunction stands for `<Total>` where a function's number is expected.
const totalFunction = -1

// shape is what stacks consist of: their functions merged to the call tree, the
// pairs of callers and callees, and the source lines, all as in the modes with
// inlined functions as frames of their own (S10), or in those without.
type shape struct {
	program    *symbolize.Program
	paths      *paths
	inlined    bool
	Tree       callTree
	Pairs      []Pair
	LineKeys   []LineKey
	SourceKeys []SourceKey

	innermost []int32 // by node of the paths: that of its innermost function in the tree
	places    []place
	placeAt   []int32 // by location: its first place, -1 if no stack has it
}

// callTree is the call tree; its root is `<Total>`.
type callTree struct {
	tree
	Nodes []Node
}

// Node is a node of the call tree.
type Node struct {
	ID       int64
	Depth    int32
	Function int32 // totalFunction for the root
	pair     int32 // of the functions of its parent and of it
}

// Pair is a caller, which may be totalFunction, and a callee.
type Pair struct{ Caller, Callee int32 }

// LineKey is a source line of a function.
type LineKey struct {
	Function int32
	File     string
	Line     int32
}

// SourceKey is a line of a source file.
type SourceKey struct {
	File string
	Line int32
}

// place is where a frame is: in an inlined function, if the mode shows them.
type place struct{ function, line, source int32 }

func newShape(program *symbolize.Program, paths *paths, inlined bool) *shape {
	s := &shape{
		program: program, paths: paths, inlined: inlined,
		Tree:      callTree{newTree(), []Node{{Function: totalFunction}}},
		innermost: make([]int32, len(paths.parent)),
		placeAt:   make([]int32, len(program.Locations)),
	}
	s.place()
	children, pairs := map[edge]int32{}, map[Pair]int32{}
	for n := 1; n < len(paths.parent); n++ {
		node := s.innermost[paths.parent[n]]
		for _, p := range s.placesOf(paths.location[n]) {
			node = s.child(children, pairs, node, p.function)
		}
		s.innermost[n] = node
	}
	return s
}

// child returns a node's child of a function.
func (s *shape) child(children map[edge]int32, pairs map[Pair]int32, parent, function int32) int32 {
	e := edge{parent, function}
	n, ok := children[e]
	if !ok {
		above := &s.Tree.Nodes[parent]
		pair := number(pairs, &s.Pairs, Pair{above.Function, function})
		n = s.Tree.add(parent)
		s.Tree.Nodes = append(s.Tree.Nodes, Node{Depth: above.Depth + 1, Function: function, pair: pair})
		children[e] = n
	}
	return n
}

// number returns the number of a key, which is added to the list if it is new.
func number[K comparable](numbers map[K]int32, list *[]K, k K) int32 {
	n, ok := numbers[k]
	if !ok {
		n = int32(len(*list))
		numbers[k] = n
		*list = append(*list, k)
	}
	return n
}

// place finds where the instructions on stacks are.
func (s *shape) place() {
	lines, sources := map[LineKey]int32{}, map[SourceKey]int32{}
	add := func(function int32, file string, line int32) {
		s.places = append(s.places, place{
			function,
			number(lines, &s.LineKeys, LineKey{function, file, line}),
			number(sources, &s.SourceKeys, SourceKey{file, line}),
		})
	}
	for i := range s.placeAt {
		s.placeAt[i] = -1
	}
	for _, location := range s.paths.location[1:] {
		if s.placeAt[location] >= 0 {
			continue
		}
		s.placeAt[location] = int32(len(s.places))
		l := &s.program.Locations[location]
		add(l.Function, l.File, l.Line)
		for _, v := range s.levels(location) {
			add(v.Function, v.File, v.Line)
		}
	}
}

// placesOf returns where an instruction on stacks is, the outermost function first.
func (s *shape) placesOf(location int32) []place {
	return s.places[s.placeAt[location]:][:1+len(s.levels(location))]
}

func (s *shape) levels(location int32) []symbolize.Level {
	if !s.inlined {
		return nil
	}
	return s.program.InlinedAt(location)
}

// identify gives each node of the tree its identifier: that of the functions
// above it.
func (t *callTree) identify(functionID func(int32) int64) {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		id := schema.NewID("node")
		if i > 0 {
			id.Number(uint64(t.Nodes[t.parent[i]].ID))
		}
		n.ID = id.Number(uint64(functionID(n.Function))).Sum()
	}
}
