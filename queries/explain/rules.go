//go:build cgo

package explain

import (
	"fmt"
	"slices"

	"stackmill/schema"
)

// step is one change that a rule made to a stack.
type step struct {
	Rule   string   `json:"rule"`
	Title  string   `json:"title"`
	Modes  []string `json:"modes"` // the modes it leads to: machine mode from what was recorded, others from machine mode
	Change string   `json:"change"`
	Frames []frame  `json:"frames"`
}

// The changes that a rule makes.
const (
	drops    = "drops"
	putsIn   = "puts in"
	uses     = "uses"     // the leaf's return register as its caller
	restores = "restores" // the leaf's caller, which no frame shows
	calls    = "calls"    // frames are the calls before the recorded return addresses
	shows    = "shows as" // a frame in another function: the frames are the one before and the one after
)

// steps returns the changes of the rules: from the recorded frames to machine mode, and from
// machine mode to the others. shows has, for each stack, a mode that shows it.
func (x *Explanation) steps(path []pathFrame, shows []int) []step {
	d := stepFinder{steps: []step{}} // a JSON list, also when empty
	machine := slices.Index(shows, machineMode)
	d.modes = x.Stacks[machine].Modes
	d.recorded(path)
	for i, mode := range shows {
		if i != machine {
			d.modes = x.Stacks[i].Modes
			d.mode(path, mode)
		}
	}
	return d.steps
}

func (x *Explanation) part(name string) (frames []frame) {
	for _, f := range x.Recorded {
		if f.Part == name {
			frames = append(frames, f)
		}
	}
	return frames
}

// stepFinder collects the steps that lead to the stack of some modes.
type stepFinder struct {
	modes []string
	steps []step
}

// add adds a step; it extends the last one if the rule did the same to the frame before.
func (d *stepFinder) add(rule schema.Rule, change string, frames ...frame) {
	if n := len(d.steps); n > 0 && change != shows {
		if last := &d.steps[n-1]; last.Rule == rule.String() && last.Change == change && slices.Equal(last.Modes, d.modes) {
			last.Frames = append(last.Frames, frames...)
			return
		}
	}
	d.steps = append(d.steps, step{rule.String(), rule.Title(), d.modes, change, frames})
}

// recorded finds the steps from the recorded frames to machine mode.
func (d *stepFinder) recorded(path []pathFrame) {
	before := "" // the word before
	for _, f := range path {
		word, frame, rule := f.recorded, f.modes[machineMode], schema.RuleOf(f.rules[machineMode])
		switch {
		case word == nil && frame != nil:
			d.add(rule, putsIn, *frame)
		case word == nil || word.Part != "native":
			continue
		case frame == nil && word.Marker == "":
			d.add(rule, drops, *word)
		case frame != nil && word.Marker != "" && rule != schema.NoRule:
			d.add(rule, putsIn, *frame) // in place of the marker
		case frame == nil || word.Marker != "": // a marker where none can be is an address
		case rule == schema.RuleLeafCheck && before == callWord:
			d.add(rule, restores, *frame)
		case rule == schema.RuleLeafCheck:
			d.add(rule, uses, *frame)
		case f.shown[machineMode] != f.own:
			d.add(schema.RuleCalls, calls, *word)
		}
		if word != nil {
			before = word.Word
		}
	}
}

// callWord is schema.MarkCall as a word of a frame.
var callWord = fmt.Sprintf("%#x", uint64(schema.MarkCall))

// mode finds the steps from machine mode to another mode: first the frames of a stack that was
// recorded by itself and is shown instead.
func (d *stepFinder) mode(path []pathFrame, mode int) {
	instead := slices.ContainsFunc(path, func(f pathFrame) bool { return f.recorded != nil && f.recorded.Part != "native" })
	for _, f := range path {
		if instead && f.modes[machineMode] == nil && f.modes[mode] != nil {
			d.add(schema.RuleOf(f.rules[mode]), putsIn, *f.modes[mode])
		}
	}
	for _, f := range path {
		machine, frame, rule := f.modes[machineMode], f.modes[mode], schema.RuleOf(f.rules[mode])
		switch {
		case machine == nil && frame != nil && !instead:
			d.add(rule, putsIn, *frame)
		case machine != nil && frame == nil:
			d.add(rule, drops, *machine)
		case machine != nil && f.shown[mode] != f.shown[machineMode]:
			d.add(rule, shows, *machine, *frame)
		}
	}
}
