package unwind

import (
	"stackmill/schema"
	"stackmill/stages/decode"
)

// openMPStates names the artificial leaf of a recorded OpenMP state
// (S17, gprofng-experiment 4.7); states in which user code runs have none.
var openMPStates = map[int]string{
	1:  ompOverhead,
	3:  ompImplicitBarrier,
	4:  ompExplicitBarrier,
	5:  ompIdle,
	7:  ompReduction,
	8:  ompLockWait,
	9:  ompCriticalWait,
	10: ompOrderedWait,
	11: "<OMP-atomic_wait>",
}

// recordedOpenMP makes the user and expert stacks of an OpenMP program from the
// recorded user stack and state.
func (u *Unwinder) recordedOpenMP(raw *decode.RawStack, t int64, res *Resolved) {
	frames := append([]Frame(nil), u.native(raw.OMP, origin{}, t)...)
	for i := range frames {
		frames[i].Rule = schema.RuleOpenMP
	}
	if name, ok := openMPStates[raw.OMPState]; ok {
		leaf := Frame{u.resolver.Artificial(name), schema.RuleOpenMP}
		frames = append([]Frame{leaf}, frames...)
	}
	n := u.intern(frames)
	res.User, res.Expert = n, n
}
