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

// Values are the exclusive, inclusive and attributed values of one or more
// modes.
type Values struct {
	Modes      Mode
	Total      []int64 // by metric
	Functions  tally
	Lines      tally
	Source     tally // source lines, of all functions together
	PCs        tally // this and the next two in plain modes only
	Modules    tally
	Objects    tally
	LineKeys   []LineKey   // by line number in Lines
	SourceKeys []SourceKey // by line number in Source
	Calls      Calls
	Tree       Tree
}

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

// totalFunction stands for `<Total>` where a function's number is expected.
const totalFunction = -1

// Compute computes the values of all modes. Modes in which every stack is the
// same share one result.
func Compute(p *symbolize.Program, stacks *Stacks, sums *Sums) []*Values {
	pick := map[Mode]func(*Recorded) int32{
		User:    func(r *Recorded) int32 { return r.User },
		Expert:  func(r *Recorded) int32 { return r.Expert },
		Machine: func(r *Recorded) int32 { return r.Machine },
	}
	paths := newPaths(stacks.Set.Stacks)
	var all []*Values
	var picked [][]int32
next:
	for _, mode := range []Mode{User, Expert, Machine} {
		of := make([]int32, len(stacks.Recorded))
		for i := range stacks.Recorded {
			of[i] = pick[mode](&stacks.Recorded[i])
		}
		for i := range all {
			if slices.Equal(picked[i], of) {
				all[i].Modes |= mode
				continue next
			}
		}
		all = append(all, &Values{Modes: mode})
		picked = append(picked, of)
	}
	for i, v := range all {
		if !hasInlined(p, stacks, picked[i]) {
			v.Modes |= v.Modes.Inlined()
			continue
		}
		all = append(all, &Values{Modes: v.Modes.Inlined()})
		picked = append(picked, picked[i])
	}
	for i, v := range all {
		newWalk(p, paths, v, len(sums.Metrics)).run(picked[i], sums)
	}
	return all
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
