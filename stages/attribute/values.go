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
// same share one result.
func Compute(p *symbolize.Program, stacks *Stacks, sums *Sums) *Values {
	plain, inlined := modesOf(p, stacks)
	s := newShape(p, newPaths(stacks.Set.Stacks))
	views := []*view{s.view(nil)}
	if len(inlined.modes) > 0 {
		views = append(views, s.view(views[0]))
	}
	metrics := len(sums.Metrics)
	v := &Values{
		shape: s, Modes: slices.Concat(plain.modes, inlined.modes),
		width: (len(plain.modes) + len(inlined.modes)) * metrics, plain: len(plain.modes) * metrics,
	}
	v.Functions = newTally[symbolize.FunctionNo](len(p.Functions), v.width)
	v.Lines, v.Source = newTally[lineNo](len(s.LineKeys), v.width), newTally[sourceNo](len(s.SourceKeys), v.width)
	v.PCs = newTally[symbolize.LocationNo](len(p.Locations), v.plain)
	v.Modules, v.Objects = newTally[symbolize.ModuleNo](len(p.Modules), v.plain), newTally[symbolize.ObjectNo](len(p.Objects), v.plain)
	v.Own = make([]Sum, len(s.Tree.Nodes)*v.width)
	for i, view := range views {
		m, first := plain, 0
		if i > 0 {
			m, first = inlined, v.plain
		}
		v.instructions(view, m.stacks, sums, first)
	}
	v.functions()
	v.call()
	return v
}

// modes are some, and the stacks that they show.
type modes struct {
	modes  []Mode
	stacks [][]unwind.StackNo // by mode and recorded stack
}

func (m *modes) add(mode Mode, stacks []unwind.StackNo) {
	m.modes, m.stacks = append(m.modes, mode), append(m.stacks, stacks)
}

// modesOf returns the modes that differ, without inlined functions and with them.
func modesOf(p *symbolize.Program, stacks *Stacks) (plain, inlined modes) {
	pick := map[Mode]func(*Recorded) unwind.StackNo{
		User:    func(r *Recorded) unwind.StackNo { return r.User },
		Expert:  func(r *Recorded) unwind.StackNo { return r.Expert },
		Machine: func(r *Recorded) unwind.StackNo { return r.Machine },
	}
next:
	for _, mode := range []Mode{User, Expert, Machine} {
		of := make([]unwind.StackNo, len(stacks.Recorded))
		for i := range stacks.Recorded {
			of[i] = pick[mode](&stacks.Recorded[i])
		}
		for i := range plain.modes {
			if slices.Equal(plain.stacks[i], of) {
				plain.modes[i] |= mode
				continue next
			}
		}
		plain.add(mode, of)
	}
	for i, mode := range plain.modes {
		if hasInlined(p, stacks, plain.stacks[i]) {
			inlined.add(mode.Inlined(), plain.stacks[i])
		} else {
			plain.modes[i] |= mode.Inlined()
		}
	}
	return plain, inlined
}

// hasInlined reports whether code on one of the stacks was inlined.
func hasInlined(p *symbolize.Program, stacks *Stacks, of []unwind.StackNo) bool {
	seen := make([]bool, len(stacks.Set.Stacks))
	for _, n := range of {
		if seen[n] {
			continue
		}
		seen[n] = true
		for _, f := range stacks.Set.Stacks[n].Frames {
			if len(p.InlinedAt(f.Location)) > 0 {
				return true
			}
		}
	}
	return false
}

// instructions counts the values of stacks where their instructions are, in the
// modes of a view, which have columns from the first on.
func (v *Values) instructions(w *view, modes [][]unwind.StackNo, sums *Sums, first int) {
	width := len(modes) * len(sums.Metrics)
	frames := make([]Sum, len(v.paths.parent)*width) // by node of the paths and column of the view
	for i, stacks := range modes {
		column := i * len(sums.Metrics)
		for n, stack := range stacks {
			if sum := sums.Of(RecordedNo(n)); sum != nil {
				leaf := v.paths.leaf[stack]
				add(frames[int(leaf)*width+column:], sum)
				v.end(w, leaf, first+column, sum)
			}
		}
	}
	v.paths.total(frames, width)
	v.paths.descend(func(n pathNo) {
		all, location := frames[int(n)*width:][:width], v.paths.label[n]
		for _, p := range w.placesOf(location) {
			v.Lines.enter(p.line, first, all)
			v.Source.enter(p.source, first, all)
		}
		if !w.inlined {
			v.PCs.enter(location, 0, all)
		}
	}, func(n pathNo) {
		location := v.paths.label[n]
		for _, p := range w.placesOf(location) {
			v.Lines.leave(p.line)
			v.Source.leave(p.source)
		}
		if !w.inlined {
			v.PCs.leave(location)
		}
	})
}

// end counts the values of stacks that end at a node of the paths, from a column
// on. A stack without frames counts for `<Total>` only.
func (v *Values) end(w *view, leaf pathNo, column int, sum []Sum) {
	add(v.own(w.innermost[leaf])[column:], sum)
	if leaf == 0 {
		return
	}
	location := v.paths.label[leaf]
	places := w.placesOf(location)
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

// functions counts the values of all stacks that pass functions.
func (v *Values) functions() {
	v.All = slices.Clone(v.Own)
	v.Tree.total(v.All, v.width)
	v.Total = make([]int64, v.width)
	for i, s := range v.all(0) {
		v.Total[i] = s.Value
	}
	v.Tree.descend(func(n nodeNo) {
		number, all := v.Tree.Nodes[n].Function, v.all(n)
		f := &v.program.Functions[number]
		v.Functions.enter(number, 0, all)
		v.Modules.enter(f.Module, 0, all[:v.plain])
		v.Objects.enter(f.Object, 0, all[:v.plain])
	}, func(n nodeNo) {
		number := v.Tree.Nodes[n].Function
		f := &v.program.Functions[number]
		v.Functions.leave(number)
		v.Modules.leave(f.Module)
		v.Objects.leave(f.Object)
	})
}
