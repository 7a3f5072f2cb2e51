package attribute

import (
	"stackmill/schema"
	"stackmill/stages/symbolize"
)

// The numbers of pairs, lines of functions and lines of files: their indices in the
// lists of a shape.
type (
	pairNo   int32
	lineNo   int32
	sourceNo int32
)

// shape is what stacks consist of: their functions merged to the call tree, the
// pairs of callers and callees, and the source lines.
type shape struct {
	program    *symbolize.Program
	paths      *paths
	Tree       callTree
	Pairs      []Pair
	LineKeys   []LineKey
	SourceKeys []SourceKey

	pairs   map[Pair]pairNo
	lines   map[LineKey]lineNo
	sources map[SourceKey]sourceNo
}

// view is where stacks' frames are in a shape, in the modes with inlined functions
// as frames of their own (S10), or in those without.
type view struct {
	*shape
	inlined   bool
	innermost []nodeNo // by node of the paths: the tree's node of its innermost function
	places    []place
	placeAt   []int32 // by location: the index of its first place, -1 if no stack has it
}

// callTree is the call tree; its root is `<Total>`.
type callTree struct {
	tree[nodeNo, symbolize.FunctionNo]
	Nodes []Node
}

// nodeNo is the number of a node of the call tree.
type nodeNo int32

// Node is a node of the call tree.
type Node struct {
	ID       int64
	Depth    int32
	Function symbolize.FunctionNo // None for the root, which is `<Total>`
	pair     pairNo               // of the functions of its parent and of it
}

// Pair is a caller, None for `<Total>`, and a callee.
type Pair struct{ Caller, Callee symbolize.FunctionNo }

// LineKey is a source line of a function.
type LineKey struct {
	Function symbolize.FunctionNo
	File     string
	Line     int32
}

// SourceKey is a line of a source file.
type SourceKey struct {
	File string
	Line int32
}

// place is where a frame is: in an inlined function, if the mode shows them.
type place struct {
	function symbolize.FunctionNo
	line     lineNo
	source   sourceNo
}

func newShape(program *symbolize.Program, paths *paths) *shape {
	return &shape{
		program: program, paths: paths,
		Tree:  callTree{newTree[nodeNo, symbolize.FunctionNo](symbolize.None), []Node{{Function: symbolize.None}}},
		pairs: map[Pair]pairNo{}, lines: map[LineKey]lineNo{}, sources: map[SourceKey]sourceNo{},
	}
}

// view adds what the modes with inlined functions, or those without, show. Most
// of it is the same: plain is the other view, nil for the first.
func (s *shape) view(plain *view) *view {
	v := &view{shape: s, inlined: plain != nil, innermost: make([]nodeNo, len(s.paths.parent)), placeAt: make([]int32, len(s.program.Locations))}
	for i := range v.placeAt {
		v.placeAt[i] = -1
	}
	for n := 1; n < len(s.paths.parent); n++ {
		node, places := v.innermost[s.paths.parent[n]], v.place(s.paths.label[n])
		if plain != nil && len(places) == 1 && node == plain.innermost[s.paths.parent[n]] {
			v.innermost[n] = plain.innermost[n]
			continue
		}
		for _, p := range places {
			node = s.child(node, p.function)
		}
		v.innermost[n] = node
	}
	return v
}

// child returns a node's child of a function.
func (s *shape) child(parent nodeNo, function symbolize.FunctionNo) nodeNo {
	n, added := s.Tree.child(parent, function)
	if added {
		above := &s.Tree.Nodes[parent]
		pair := number(s.pairs, &s.Pairs, Pair{above.Function, function})
		s.Tree.Nodes = append(s.Tree.Nodes, Node{Depth: above.Depth + 1, Function: function, pair: pair})
	}
	return n
}

// number returns the number of a key, which is added to the list if it is new.
func number[K comparable, N ~int32](numbers map[K]N, list *[]K, k K) N {
	n, ok := numbers[k]
	if !ok {
		n = N(len(*list))
		numbers[k] = n
		*list = append(*list, k)
	}
	return n
}

// place returns where an instruction is, as placesOf, which knows it from then on.
func (v *view) place(location symbolize.LocationNo) []place {
	if v.placeAt[location] < 0 {
		v.placeAt[location] = int32(len(v.places))
		l := &v.program.Locations[location]
		v.add(l.Function, l.File, l.Line)
		for _, i := range v.levels(location) {
			v.add(i.Function, i.File, i.Line)
		}
	}
	return v.placesOf(location)
}

func (v *view) add(function symbolize.FunctionNo, file string, line int32) {
	v.places = append(v.places, place{
		function,
		number(v.lines, &v.LineKeys, LineKey{function, file, line}),
		number(v.sources, &v.SourceKeys, SourceKey{file, line}),
	})
}

// placesOf returns where an instruction on stacks is, the outermost function first.
func (v *view) placesOf(location symbolize.LocationNo) []place {
	return v.places[v.placeAt[location]:][:1+len(v.levels(location))]
}

func (v *view) levels(location symbolize.LocationNo) []symbolize.Level {
	if !v.inlined {
		return nil
	}
	return v.program.InlinedAt(location)
}

// identify gives each node of the tree its identifier, made from the functions above
// it.
func (t *callTree) identify(functionID func(symbolize.FunctionNo) int64) {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		id := schema.NewID("node")
		if i > 0 {
			id.Number(uint64(t.Nodes[t.parent[i]].ID))
		}
		n.ID = id.Number(uint64(functionID(n.Function))).Sum()
	}
}
