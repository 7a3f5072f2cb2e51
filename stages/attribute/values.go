package attribute

import (
	"slices"

	"stackmill/stages/symbolize"
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

// Values are the exclusive, inclusive and attributed values of modes that show
// stacks of one shape. A column is a metric in one of them:
// mode*len(metrics)+metric.
type Values struct {
	*shape
	Modes     []Mode  // each is one or more that have the same values
	Total     []int64 // by column
	Functions tally
	Lines     tally // by number in LineKeys
	Source    tally // by number in SourceKeys
	PCs       tally // this and the next two in plain modes only
	Modules   tally
	Objects   tally
	Own, All  []Sum // by node of the tree and column: of stacks that end there, and of those that pass, too
	Calls     calls

	width int // columns
}

func (v *Values) own(n int32) []Sum { return v.Own[int(n)*v.width:][:v.width] }
func (v *Values) all(n int32) []Sum { return v.All[int(n)*v.width:][:v.width] }

// Compute computes the values of all modes, first of those without inlined
// functions. Modes in which every stack is the same share one result.
func Compute(p *symbolize.Program, stacks *Stacks, sums *Sums) []*Values {
	pick := map[Mode]func(*Recorded) int32{
		User:    func(r *Recorded) int32 { return r.User },
		Expert:  func(r *Recorded) int32 { return r.Expert },
		Machine: func(r *Recorded) int32 { return r.Machine },
	}
	var plain, inlined modes
next:
	for _, mode := range []Mode{User, Expert, Machine} {
		of := make([]int32, len(stacks.Recorded))
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
	paths := newPaths(stacks.Set.Stacks)
	all := []*Values{plain.values(newShape(p, paths, false), sums)}
	if len(inlined.modes) > 0 {
		all = append(all, inlined.values(newShape(p, paths, true), sums))
	}
	return all
}

// modes are some that show stacks of one shape.
type modes struct {
	modes  []Mode
	stacks [][]int32 // by mode and recorded stack
}

func (m *modes) add(mode Mode, stacks []int32) {
	m.modes, m.stacks = append(m.modes, mode), append(m.stacks, stacks)
}

func (m *modes) values(s *shape, sums *Sums) *Values {
	width := len(m.modes) * len(sums.Metrics)
	v := &Values{
		shape: s, Modes: m.modes, width: width,
		Functions: newTally(len(s.program.Functions), width),
		Lines:     newTally(len(s.LineKeys), width),
		Source:    newTally(len(s.SourceKeys), width),
		Own:       make([]Sum, len(s.Tree.Nodes)*width),
	}
	if !s.inlined {
		v.PCs = newTally(len(s.program.Locations), width)
		v.Modules = newTally(len(s.program.Modules), width)
		v.Objects = newTally(len(s.program.Objects), width)
	}
	frames := make([]Sum, len(s.paths.parent)*width)
	for i, stacks := range m.stacks {
		column := i * len(sums.Metrics)
		for n, stack := range stacks {
			if sum := sums.Of(n); sum != nil {
				leaf := s.paths.leaf[stack]
				add(frames[int(leaf)*width+column:], sum)
				v.end(leaf, column, sum)
			}
		}
	}
	v.pass(frames)
	v.call()
	return v
}

// end counts the values of stacks that end at a node of the paths, from a column
// on. A stack without frames counts for `<Total>` only.
func (v *Values) end(leaf int32, column int, sum []Sum) {
	node := v.innermost[leaf]
	add(v.own(node)[column:], sum)
	if leaf == 0 {
		return
	}
	location := v.paths.location[leaf]
	places := v.placesOf(location)
	innermost := places[len(places)-1]
	v.Lines.exclude(innermost.line, column, sum)
	v.Source.exclude(innermost.source, column, sum)
	v.Functions.exclude(innermost.function, column, sum)
	if !v.inlined {
		f := &v.program.Functions[innermost.function]
		v.PCs.exclude(location, column, sum)
		v.Modules.exclude(f.Module, column, sum)
		v.Objects.exclude(f.Object, column, sum)
	}
}

// pass counts the values of all stacks that pass things; frames are those of the
// stacks that end at each node of the paths.
func (v *Values) pass(frames []Sum) {
	v.paths.total(frames, v.width)
	v.paths.descend(func(n int32) {
		all, location := frames[int(n)*v.width:][:v.width], v.paths.location[n]
		for _, p := range v.placesOf(location) {
			v.Lines.enter(p.line, all)
			v.Source.enter(p.source, all)
		}
		if !v.inlined {
			v.PCs.enter(location, all)
		}
	}, func(n int32) {
		location := v.paths.location[n]
		for _, p := range v.placesOf(location) {
			v.Lines.leave(p.line)
			v.Source.leave(p.source)
		}
		if !v.inlined {
			v.PCs.leave(location)
		}
	})

	v.All = slices.Clone(v.Own)
	v.Tree.total(v.All, v.width)
	v.Total = make([]int64, v.width)
	for i, s := range v.all(0) {
		v.Total[i] = s.Value
	}
	v.Tree.descend(func(n int32) {
		number := v.Tree.Nodes[n].Function
		v.Functions.enter(number, v.all(n))
		if !v.inlined {
			f := &v.program.Functions[number]
			v.Modules.enter(f.Module, v.all(n))
			v.Objects.enter(f.Object, v.all(n))
		}
	}, func(n int32) {
		number := v.Tree.Nodes[n].Function
		v.Functions.leave(number)
		if !v.inlined {
			f := &v.program.Functions[number]
			v.Modules.leave(f.Module)
			v.Objects.leave(f.Object)
		}
	})
}

// hasInlined reports whether code on one of the stacks was inlined.
func hasInlined(p *symbolize.Program, stacks *Stacks, of []int32) bool {
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
