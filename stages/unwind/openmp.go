package unwind

import (
	"stackmill/schema"
	"stackmill/stages/stacktree"
)

// openMPStates maps recorded OpenMP states to names of artificial leaf functions (S17,
// gprofng-experiment 4.7). States in which user code runs have none.
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

// recordedOpenMP makes the stack that user and expert mode show, from the user stack and OpenMP
// state that the collector recorded. The result is valid until the next call.
func (u *Unwinder) recordedOpenMP() []Frame {
	u.user = u.user[:0]
	if name, ok := openMPStates[u.raw.OMPState]; ok {
		u.user = append(u.user, insertedFrame(u.resolver.Artificial(name), schema.RuleOpenMP))
	}
	for _, f := range u.machineFrames(stacktree.OpenMP, u.raw.OMP, wordSource{}) {
		f.Rule = schema.RuleOpenMP
		u.user = append(u.user, f)
	}
	return u.user
}
