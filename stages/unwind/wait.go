package unwind

import (
	"stackmill/schema"
	"stackmill/stages/decode"
)

// waitStates maps the states of a thread that waits to the names of artificial leaf functions
// (S33).
var waitStates = map[int]string{
	decode.StatePreempted: "<Preempted>",
	decode.StateRunQueue:  "<Run-queue-wait>",
	decode.StateBlocked:   "<Blocked>",
	decode.StateSum:       "<Blocked>",
	decode.StateDisk:      "<Disk-wait>",
	decode.StateOn:        "<On-CPU-unsampled>",
}

// noWaitStack is the artificial caller in the stack of a wait for which no stack was recorded when
// the thread was switched out.
const noWaitStack = "<No-wait-stack>"

// addWait adds an artificial leaf for the state of a waiting thread to its path, in every mode: the
// function that waited calls it (S33).
//
//	before: schedule <- do_nanosleep <- nap <- main
//	after:  <Blocked> <- schedule <- do_nanosleep <- nap <- main    in machine mode
//	        <Blocked> <- nap <- main                                 in user mode
func (m *pathMerger) addWait() (waits bool) {
	name, waits := waitStates[m.raw.OMPState]
	if !waits {
		return false
	}
	if m.raw.Reason == decode.ReasonNoWaitStack {
		m.addLeaf(noWaitStack)
	}
	m.addLeaf(name)
	return true
}

// addLeaf adds an artificial frame, which all modes show, at the leaf.
func (m *pathMerger) addLeaf(name string) {
	location, t := m.resolver.Artificial(name), m.addFrame(none)
	for mode := range t.Shown {
		t.Shown[mode], t.Rules[mode] = location, schema.RuleWait
	}
}
