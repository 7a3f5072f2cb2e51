package attribute

import (
	"stackmill/schema"
	"stackmill/stages/symbolize"
	"stackmill/stages/tree"
	"stackmill/stages/unwind"
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
	Tree       callTree
	Pairs      []Pair
	LineKeys   []LineKey
	SourceKeys []SourceKey

	pairs   map[Pair]pairNo
	lines   map[LineKey]lineNo
	sources map[SourceKey]sourceNo
}

// places are where instructions are, in the modes with inlined functions as frames of
// their own (S10), or in those without.
type places struct {
	*shape
	inlined bool
	list    []place
	at      []int32 // by location: the index of its first place, -1 if no stack has it
}

// view is where the frames that modes show are in a shape.
type view struct {
	*places
	mode
	innermost []nodeNo // by node of the stacks: the call tree's node of its innermost function
}

// callTree is the call tree; its root is `<Total>`.
type callTree struct {
	tree.Tree[nodeNo, symbolize.FunctionNo]
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

func newShape(program *symbolize.Program) *shape {
	return &shape{
		program: program,
		Tree:    callTree{tree.New[nodeNo, symbolize.FunctionNo](symbolize.None), []Node{{Function: symbolize.None}}},
		pairs:   map[Pair]pairNo{}, lines: map[LineKey]lineNo{}, sources: map[SourceKey]sourceNo{},
	}
}

func (s *shape) places(inlined bool) *places {
	p := &places{shape: s, inlined: inlined, at: make([]int32, len(s.program.Locations))}
	for i := range p.at {
		p.at[i] = -1
	}
	return p
}

// view adds the paths of stacks as a mode shows them. Most are as in the view before,
// which may be nil.
func (p *places) view(m mode, stacks *unwind.Tree, before *view) *view {
	v := &view{places: p, mode: m, innermost: make([]nodeNo, stacks.Len())}
	for n := 1; n < stacks.Len(); n++ {
		above, frame := stacks.Parent[n], stacks.Label[n]
		node, location := v.innermost[above], m.shows[frame]
		switch {
		case location < 0:
		case before != nil && before.shows[frame] == location && before.innermost[above] == node && (before.inlined == p.inlined || len(p.place(location)) == 1):
			node = before.innermost[n]
			p.place(location)
		default:
			for _, at := range p.place(location) {
				node = p.child(node, at.function)
			}
		}
		v.innermost[n] = node
	}
	return v
}

// child returns a node's child of a function.
func (s *shape) child(parent nodeNo, function symbolize.FunctionNo) nodeNo {
	n, added := s.Tree.Child(parent, function)
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

// place returns where an instruction is, as of, which knows it from then on.
func (p *places) place(location symbolize.LocationNo) []place {
	if p.at[location] < 0 {
		p.at[location] = int32(len(p.list))
		l := &p.program.Locations[location]
		p.add(l.Function, l.File, l.Line)
		for _, i := range p.levels(location) {
			p.add(i.Function, i.File, i.Line)
		}
	}
	return p.of(location)
}

func (p *places) add(function symbolize.FunctionNo, file string, line int32) {
	p.list = append(p.list, place{
		function,
		number(p.lines, &p.LineKeys, LineKey{function, file, line}),
		number(p.sources, &p.SourceKeys, SourceKey{file, line}),
	})
}

// of returns where an instruction on stacks is, the outermost function first.
func (p *places) of(location symbolize.LocationNo) []place {
	return p.list[p.at[location]:][:1+len(p.levels(location))]
}

func (p *places) levels(location symbolize.LocationNo) []symbolize.Level {
	if !p.inlined {
		return nil
	}
	return p.program.InlinedAt(location)
}

// identify gives each node of the tree its identifier, made from the functions above
// it.
func (t *callTree) identify(functionID func(symbolize.FunctionNo) int64) {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		id := schema.NewID("node")
		if i > 0 {
			id.Number(uint64(t.Nodes[t.Parent[i]].ID))
		}
		n.ID = id.Number(uint64(functionID(n.Function))).Sum()
	}
}
