package attribute

import (
	"slices"

	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// Mode is one of the manual's representations of a stack, as a bit.
type Mode int32

// The modes.
const (
	User    Mode = 1
	Expert  Mode = 2
	Machine Mode = 4
	Plain        = User | Expert | Machine // without inlined functions
)

// Inlined is the mode with inlined functions as frames of their own (S10).
func (m Mode) Inlined() Mode { return m << 3 }

// Values are the exclusive, inclusive and attributed values of all modes. A
// column is a metric in one of them: mode*len(metrics)+metric.
type Values struct {
	*shape
	Modes     []Mode  // each is one or more that have the same values; first those without inlined functions
	Total     []int64 // by column
	Functions tally[symbolize.FunctionNo]
	Lines     tally[lineNo]
	Source    tally[sourceNo]
	PCs       tally[symbolize.LocationNo] // this and the next two have the columns of modes without inlined functions only
	Modules   tally[symbolize.ModuleNo]
	Objects   tally[symbolize.ObjectNo]
	Own, All  []Sum // by node of the tree and column: of stacks that end there, and of those that pass, too
	Calls     calls

	width int // columns
	plain int // columns of modes without inlined functions
}

func (v *Values) own(n nodeNo) []Sum { return v.Own[int(n)*v.width:][:v.width] }
func (v *Values) all(n nodeNo) []Sum { return v.All[int(n)*v.width:][:v.width] }

// Compute computes the values of all modes. Modes in which every stack is the
// same share one result. together runs functions at once.
func Compute(p *symbolize.Program, stacks *Stacks, sums *Sums, together func(...func() error) error) (*Values, error) {
	plain, inlined := modesOf(p, stacks.Tree.Frames)
	s := newShape(p)
	v := &Values{shape: s}
	views := s.views(stacks.Tree, plain, inlined)
	for _, w := range views {
		v.Modes = append(v.Modes, w.modes)
	}
	metrics := len(sums.Metrics)
	v.width, v.plain = len(views)*metrics, len(plain)*metrics
	v.Functions = newTally[symbolize.FunctionNo](len(p.Functions), v.width)
	v.Lines, v.Source = newTally[lineNo](len(s.LineKeys), v.width), newTally[sourceNo](len(s.SourceKeys), v.width)
	v.PCs = newTally[symbolize.LocationNo](len(p.Locations), v.plain)
	v.Modules, v.Objects = newTally[symbolize.ModuleNo](len(p.Modules), v.plain), newTally[symbolize.ObjectNo](len(p.Objects), v.plain)
	v.Own = make([]Sum, len(s.Tree.Nodes)*v.width)
	var each []func() error
	for i, w := range views {
		each = append(each, func() error { v.instructions(w, stacks, sums, i*metrics); return nil })
	}
	if err := together(each...); err != nil {
		return nil, err
	}
	v.total()
	return v, together(
		func() error { v.functions(); return nil },
		func() error { v.call(); return nil },
	)
}

// views returns the views of modes without inlined functions, and then with them.
func (s *shape) views(stacks *unwind.Tree, plain, inlined []mode) (views []*view) {
	var before *view
	for i, list := range [][]mode{plain, inlined} {
		places := s.places(i > 0)
		for _, m := range list {
			before = places.view(m, stacks, before)
			views = append(views, before)
		}
	}
	return views
}

// mode is what one or more modes show, which is the same.
type mode struct {
	modes Mode
	leaf  unwind.Mode            // one of them
	shows []symbolize.LocationNo // by frame of the stacks
}

// modesOf returns the modes that differ, without inlined functions and with them.
func modesOf(p *symbolize.Program, frames []unwind.TreeFrame) (plain, inlined []mode) {
next:
	for i, modes := range []Mode{User, Expert, Machine} {
		m := mode{modes, unwind.Mode(i), make([]symbolize.LocationNo, len(frames))}
		for n := range frames {
			m.shows[n] = frames[n].Shown[i]
		}
		for i := range plain {
			if slices.Equal(plain[i].shows, m.shows) {
				plain[i].modes |= modes
				continue next
			}
		}
		plain = append(plain, m)
	}
	for i, m := range plain {
		if slices.ContainsFunc(m.shows, func(l symbolize.LocationNo) bool { return l >= 0 && len(p.InlinedAt(l)) > 0 }) {
			m.modes = m.modes.Inlined()
			inlined = append(inlined, m)
		} else {
			plain[i].modes |= m.modes.Inlined()
		}
	}
	return plain, inlined
}

// instructions counts the values of stacks where their instructions are, in the mode
// of a view, which has columns from the first on.
func (v *Values) instructions(w *view, stacks *Stacks, sums *Sums, first int) {
	t, width := stacks.Tree, len(sums.Metrics)
	frames := make([]Sum, t.Len()*width) // by node of the stacks and metric
	for n := range stacks.Recorded {
		if sum := sums.Of(RecordedNo(n)); sum != nil {
			leaf := stacks.Recorded[n].Leaf[w.leaf]
			add(frames[int(leaf)*width:], sum)
		}
	}
	for n := range t.Parent {
		if sum := frames[n*width:][:width]; some(sum) {
			v.end(w, unwind.NodeNo(n), w.shows[t.Label[n]], first, sum)
		}
	}
	total(t.Parent, frames, width)
	lines, source, pcs := v.Lines.walk(), v.Source.walk(), v.PCs.walk()
	t.Descend(func(n unwind.NodeNo) {
		all, location := frames[int(n)*width:][:width], w.shows[t.Label[n]]
		if location < 0 {
			return
		}
		for _, p := range w.of(location) {
			lines.enter(p.line, first, all)
			source.enter(p.source, first, all)
		}
		if !w.inlined {
			pcs.enter(location, first, all)
		}
	}, func(n unwind.NodeNo) {
		location := w.shows[t.Label[n]]
		if location < 0 {
			return
		}
		for _, p := range w.of(location) {
			lines.leave(p.line)
			source.leave(p.source)
		}
		if !w.inlined {
			pcs.leave(location)
		}
	})
}

// some reports whether there is a sample.
func some(sums []Sum) bool {
	return slices.ContainsFunc(sums, func(s Sum) bool { return s.Samples > 0 })
}

// total adds each node's sums, width of them, to those of the nodes above.
func total[N ~int32](parents []N, sums []Sum, width int) {
	for n := len(parents) - 1; n > 0; n-- {
		add(sums[int(parents[n])*width:], sums[n*width:][:width])
	}
}

func add(to, sums []Sum) {
	for i, s := range sums {
		to[i].Value += s.Value
		to[i].Samples += s.Samples
	}
}

// end counts the values of stacks that end at a node, where the mode shows a location,
// from a column on. A stack without frames counts for `<Total>` only.
func (v *Values) end(w *view, leaf unwind.NodeNo, location symbolize.LocationNo, column int, sum []Sum) {
	add(v.own(w.innermost[leaf])[column:], sum)
	if leaf == unwind.Root {
		return
	}
	places := w.of(location)
	innermost := places[len(places)-1]
	v.Lines.exclude(innermost.line, column, sum)
	v.Source.exclude(innermost.source, column, sum)
	v.Functions.exclude(innermost.function, column, sum)
	if !w.inlined {
		f := &v.program.Functions[innermost.function]
		v.PCs.exclude(location, column, sum)
		v.Modules.exclude(f.Module, column, sum)
		v.Objects.exclude(f.Object, column, sum)
	}
}

// total adds the values of all stacks up to the root of the call tree.
func (v *Values) total() {
	v.All = slices.Clone(v.Own)
	total(v.Tree.Parent, v.All, v.width)
	v.Total = make([]int64, v.width)
	for i, s := range v.all(0) {
		v.Total[i] = s.Value
	}
}

// functions counts the values of all stacks that pass functions.
func (v *Values) functions() {
	functions, modules, objects := v.Functions.walk(), v.Modules.walk(), v.Objects.walk()
	v.Tree.Descend(func(n nodeNo) {
		number, all := v.Tree.Nodes[n].Function, v.all(n)
		f := &v.program.Functions[number]
		functions.enter(number, 0, all)
		modules.enter(f.Module, 0, all[:v.plain])
		objects.enter(f.Object, 0, all[:v.plain])
	}, func(n nodeNo) {
		number := v.Tree.Nodes[n].Function
		f := &v.program.Functions[number]
		functions.leave(number)
		modules.leave(f.Module)
		objects.leave(f.Object)
	})
}
