package main

import (
	"slices"

	"stackmill/schema"
)

// step is one thing that a rule did to a stack.
type step struct {
	Rule   string       `json:"rule"`
	Title  string       `json:"title"`
	Modes  []string     `json:"modes"` // the modes it leads to: machine mode from what was recorded, others from machine mode
	Change string       `json:"change"`
	Frames []stackFrame `json:"frames"`
}

// What a rule can do.
const (
	drops    = "drops"
	putsIn   = "puts in"
	uses     = "uses"     // the leaf's return register as its caller
	restores = "restores" // the leaf's caller, which no frame shows
	calls    = "calls"    // frames are the calls before the recorded return addresses
	shows    = "shows as" // a frame in another function: the frames are the one before and the one after
)

// steps returns what the rules did: it compares the recorded frames with machine
// mode's, and machine mode's with the other modes'.
func (x *explanation) steps() []step {
	i := slices.IndexFunc(x.Stacks, func(m modeStack) bool { return slices.Contains(m.Modes, "machine") })
	machine := x.Stacks[i]
	d := differ{modes: machine.Modes}
	d.recorded(x.part("native"), machine.Frames)
	for _, other := range x.Stacks {
		if other.StackID != machine.StackID {
			d.modes = other.Modes
			d.mode(machine.Frames, other.Frames)
		}
	}
	return d.steps
}

func (x *explanation) part(name string) (frames []stackFrame) {
	for _, f := range x.Recorded {
		if f.Part == name {
			frames = append(frames, f)
		}
	}
	return frames
}

type differ struct {
	modes []string
	steps []step
}

// add adds a step; it extends the last one if the rule did the same to the frame before.
func (d *differ) add(rule schema.Rule, change string, frames ...stackFrame) {
	if n := len(d.steps); n > 0 && change != shows {
		if last := &d.steps[n-1]; last.Rule == rule.String() && last.Change == change && slices.Equal(last.Modes, d.modes) {
			last.Frames = append(last.Frames, frames...)
			return
		}
	}
	d.steps = append(d.steps, step{rule.String(), rule.Title(), d.modes, change, frames})
}

// recorded compares recorded words with the machine stack. Frames that are put
// in say so by their rule; every other one is the next word that means the same.
func (d *differ) recorded(words, frames []stackFrame) {
	register, linker := "", false // the word before, if the leaf's caller may follow it; the frame before stands for the linker's
	leaf := true
	for len(words) > 0 || len(frames) > 0 {
		if len(frames) > 0 && isPutIn(frames[0].rule()) {
			linker = frames[0].rule() == schema.RuleLinker
			d.add(frames[0].rule(), putsIn, frames[0])
			frames = frames[1:]
			continue
		}
		if len(words) == 0 {
			d.add(schema.NoRule, putsIn, frames[0]) // TestExplainsAll: does not happen
			frames = frames[1:]
			continue
		}
		w := words[0]
		words = words[1:]
		called := len(frames) > 0 && w.Marker == "" && frames[0].object == w.object && frames[0].place == w.place-1
		kept := len(frames) > 0 && w.Marker == "" && (called || frames[0].location == w.location) &&
			(register != "") == (frames[0].rule() == schema.RuleLeafCheck) && !(leaf && frames[0].rule() == schema.RulePLT)
		switch {
		case w.Marker != "" && (w.Word == leafCheckWord || w.Word == callWord || len(words) == 0):
			register = w.Word
			continue
		case w.Marker != "": // a marker where none can be is an address
			frames = frames[1:]
		case kept && register == callWord:
			d.add(schema.RuleLeafCheck, restores, frames[0])
			frames = frames[1:]
		case kept && register != "":
			d.add(schema.RuleLeafCheck, uses, frames[0])
			frames = frames[1:]
		case kept:
			if called {
				d.add(schema.RuleCalls, calls, w)
			}
			linker, frames = false, frames[1:]
		case register != "":
			d.add(schema.RuleLeafCheck, drops, w)
		case leaf && w.kind == "plt" && !linker:
			d.add(schema.RulePLT, drops, w)
		case linker:
			d.add(schema.RuleLinker, drops, w)
		default:
			d.add(schema.NoRule, drops, w) // TestExplainsAll: does not happen
		}
		register, leaf = "", false
	}
}

// The words that a leaf's caller may follow.
const (
	leafCheckWord = "0xffffffffffffffff"
	callWord      = "0xfffffffffffffffc"
)

// isPutIn reports whether a rule's frames correspond to no recorded word.
func isPutIn(rule schema.Rule) bool {
	switch rule {
	case schema.RuleOutline, schema.RuleTruncated, schema.RuleInferred, schema.RuleMissing, schema.RuleLinker:
		return true
	}
	return false
}

// mode compares the machine stack with another mode's: frames of the recorded
// Java or OpenMP stack, and states, are put in; bodies are shown in another function.
func (d *differ) mode(machine, frames []stackFrame) {
	instead := schema.NoRule // the rule by which a recorded stack takes the place of the machine's
	if len(frames) > 0 && slices.ContainsFunc(frames, func(f stackFrame) bool { return f.rule() == schema.RuleJava }) {
		instead = schema.RuleJava
	} else if len(frames) > 0 && !slices.ContainsFunc(frames, func(f stackFrame) bool { return f.rule() != schema.RuleOpenMP }) {
		instead = schema.RuleOpenMP
	}
	for len(frames) > 0 && frames[0].rule() == schema.RuleTrap && len(machine) > 0 && machine[0].location != frames[0].location {
		d.add(schema.RuleTrap, drops, machine[0])
		machine = machine[1:]
	}
	for len(machine) > 0 || len(frames) > 0 {
		if len(frames) > 0 && (frames[0].rule() == schema.RuleJava || frames[0].rule() == schema.RuleOpenMP ||
			instead != schema.NoRule && frames[0].rule() == schema.RuleTruncated) {
			d.add(frames[0].rule(), putsIn, frames[0])
			frames = frames[1:]
			continue
		}
		if len(machine) == 0 {
			d.add(schema.NoRule, putsIn, frames[0]) // TestExplainsAll: does not happen
			frames = frames[1:]
			continue
		}
		m := machine[0]
		machine = machine[1:]
		switch {
		case len(frames) > 0 && frames[0].rule() == schema.RuleBody && frames[0].object == m.object && frames[0].place == m.place:
			d.add(schema.RuleBody, shows, m, frames[0])
			frames = frames[1:]
		case len(frames) > 0 && frames[0].location == m.location && (frames[0].Rule == m.Rule || frames[0].rule() == schema.RuleTrap):
			frames = frames[1:]
		case instead != schema.NoRule:
			d.add(instead, drops, m)
		case m.inKernel():
			d.add(schema.RuleTrap, drops, m)
		case schema.OwnerOf(m.LoadObject) == schema.ProgramCode:
			d.add(schema.RuleBody, drops, m)
		default:
			d.add(schema.RuleOpenMP, drops, m)
		}
	}
}

// rule is what put the frame in or changed it.
func (f stackFrame) rule() schema.Rule { return schema.RuleOf(f.Rule) }

// inKernel reports whether the frame is in the kernel: its addresses are the upper half.
func (f stackFrame) inKernel() bool {
	return f.kind == "kernel" || f.kind == "unknown" && f.place < 0
}
