package attribute

import (
	"slices"

	"stackmill/stages/symbolize"
)

// walk computes the values of one mode. It looks once at what stacks have in
// common, in the order in which stacks have it first.
type walk struct {
	*Values
	program *symbolize.Program
	paths   *paths
	inlined bool

	frames  branches
	nodes   []int32 // by node of the paths: that of frames, -1 for none
	at      []int32 // by node of frames: its location
	tree    []int32 // by node of frames: that of its innermost function in the tree
	fresh   []int32 // scratch
	places  []place
	placeAt []int32 // by location: its first place, -1 before it is known
	lines   map[LineKey]int32
	sources map[SourceKey]int32
}

// place is where a frame is: in an inlined function, if the mode shows them.
type place struct{ function, line, source int32 }

func newWalk(p *symbolize.Program, paths *paths, v *Values, metrics int) *walk {
	v.Calls, v.Tree = newCalls(len(p.Functions), metrics), newTree(metrics)
	w := &walk{
		Values: v, program: p, paths: paths, inlined: v.Modes&Plain == 0,
		frames: newBranches(metrics), at: []int32{-1}, tree: []int32{0},
		nodes: make([]int32, len(paths.parent)), placeAt: make([]int32, len(p.Locations)),
		lines: map[LineKey]int32{}, sources: map[SourceKey]int32{},
	}
	for i := range w.nodes {
		w.nodes[i] = -1
	}
	w.nodes[0] = 0
	for i := range w.placeAt {
		w.placeAt[i] = -1
	}
	return w
}

// run computes the values; of are the stacks of the recorded ones. Stacks
// without a value do not exist, and one without frames counts for `<Total>` only.
func (w *walk) run(of []int32, sums *Sums) {
	used := make([]bool, len(w.paths.leaf))
	for i, stack := range of {
		sum := sums.Of(i)
		if isZero(sum) {
			continue
		}
		if !used[stack] {
			used[stack] = true
			w.add(w.paths.leaf[stack])
		}
		addSums(w.frames.own(w.nodes[w.paths.leaf[stack]]), sum)
	}
	w.frames.sum()
	for n := range w.at {
		addSums(w.Tree.own(w.tree[n]), w.frames.own(int32(n)))
	}
	w.Tree.sum()
	w.Total = values(w.Tree.all(0))
	w.sumFrames()
	w.sumFunctions()
	w.Calls.attribute(&w.Tree, len(w.program.Functions))
}

func isZero(sums []Sum) bool {
	return !slices.ContainsFunc(sums, func(s Sum) bool { return s.Samples != 0 })
}

// add adds what a stack has that no other had before; leaf is its leaf.
func (w *walk) add(leaf int32) {
	w.fresh = w.fresh[:0]
	n := leaf
	for ; w.nodes[n] < 0; n = w.paths.parent[n] {
		w.fresh = append(w.fresh, n)
	}
	fresh := int32(len(w.Tree.Nodes))
	frame := w.nodes[n]
	for _, n := range slices.Backward(w.fresh) {
		location := w.paths.location[n]
		node := w.tree[frame]
		for _, p := range w.placesOf(location) {
			node = w.Tree.child(node, p.function)
		}
		frame = w.frames.add(frame)
		w.nodes[n], w.at, w.tree = frame, append(w.at, location), append(w.tree, node)
	}
	w.Calls.path(&w.Tree, w.tree[frame], fresh)
}

// placesOf returns where an instruction is, the outermost function first.
func (w *walk) placesOf(location int32) []place {
	var levels []symbolize.Level
	if w.inlined {
		levels = w.program.InlinedAt(location)
	}
	at := w.placeAt[location]
	if at < 0 {
		at = int32(len(w.places))
		w.placeAt[location] = at
		l := &w.program.Locations[location]
		w.place(l.Function, l.File, l.Line)
		for _, v := range levels {
			w.place(v.Function, v.File, v.Line)
		}
	}
	return w.places[at:][:1+len(levels)]
}

func (w *walk) place(function int32, file string, line int32) {
	w.places = append(w.places, place{
		function,
		number(w.lines, &w.LineKeys, LineKey{function, file, line}),
		number(w.sources, &w.SourceKeys, SourceKey{file, line}),
	})
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

// sumFrames sums what depends on instructions.
func (w *walk) sumFrames() {
	metrics := w.frames.metrics
	w.Lines, w.Source = newTally(len(w.LineKeys), metrics), newTally(len(w.SourceKeys), metrics)
	if !w.inlined {
		w.PCs = newTally(len(w.program.Locations), metrics)
	}
	w.frames.descend(func(n int32) {
		all, own := w.frames.all(n), w.frames.own(n)
		places := w.placesOf(w.at[n])
		for _, p := range places {
			w.Lines.enter(p.line, all)
			w.Source.enter(p.source, all)
		}
		innermost := places[len(places)-1]
		w.Lines.exclude(innermost.line, own)
		w.Source.exclude(innermost.source, own)
		if !w.inlined {
			w.PCs.enter(w.at[n], all)
			w.PCs.exclude(w.at[n], own)
		}
	}, func(n int32) {
		for _, p := range w.placesOf(w.at[n]) {
			w.Lines.leave(p.line)
			w.Source.leave(p.source)
		}
		if !w.inlined {
			w.PCs.leave(w.at[n])
		}
	})
}

// sumFunctions sums what depends on functions.
func (w *walk) sumFunctions() {
	t, p := &w.Tree, w.program
	w.Functions = newTally(len(p.Functions), t.metrics)
	if !w.inlined {
		w.Modules, w.Objects = newTally(len(p.Modules), t.metrics), newTally(len(p.Objects), t.metrics)
	}
	t.descend(func(n int32) {
		f, all, own := t.Nodes[n].Function, t.all(n), t.own(n)
		w.Functions.enter(f, all)
		w.Functions.exclude(f, own)
		if !w.inlined {
			w.Modules.enter(p.Functions[f].Module, all)
			w.Modules.exclude(p.Functions[f].Module, own)
			w.Objects.enter(p.Functions[f].Object, all)
			w.Objects.exclude(p.Functions[f].Object, own)
		}
	}, func(n int32) {
		f := t.Nodes[n].Function
		w.Functions.leave(f)
		if !w.inlined {
			w.Modules.leave(p.Functions[f].Module)
			w.Objects.leave(p.Functions[f].Object)
		}
	})
}
