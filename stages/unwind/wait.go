package unwind

import (
	"stackmill/schema"
	"stackmill/stages/decode"
)

// waitStates maps the states of waiting threads to artificial leaf functions (S33).
var waitStates = map[int]string{
	decode.StatePreempted: "<Preempted>",
	decode.StateRunQueue:  "<Run-queue-wait>",
	decode.StateBlocked:   "<Blocked>",
	decode.StateDisk:      "<Disk-wait>",
	decode.StateOn:        "<On-CPU-unsampled>",
}

// noWaitStack is the caller of a wait whose switch out was recorded without a stack.
const noWaitStack = "<No-wait-stack>"

// addWait adds the state of a waiting thread to its path, as a leaf that the function that
// waited calls, in every mode (S33).
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

// addLeaf adds an artificial frame that all modes show.
func (m *pathMerger) addLeaf(name string) {
	location, t := m.resolver.Artificial(name), m.addFrame(none)
	for mode := range t.Shown {
		t.Shown[mode], t.Rules[mode] = location, schema.RuleWait
	}
}
