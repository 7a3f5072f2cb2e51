package unwind

import "stackmill/stages/decode"

// openMPStates names the artificial leaf of a recorded OpenMP state
// (S17, gprofng-experiment 4.7); states in which user code runs have none.
var openMPStates = map[int]string{
	1:  "<OMP-overhead>",
	3:  "<OMP-implicit_barrier>",
	4:  "<OMP-explicit_barrier>",
	5:  "<OMP-idle>",
	7:  "<OMP-reduction>",
	8:  "<OMP-lock_wait>",
	9:  "<OMP-critical_section_wait>",
	10: "<OMP-ordered_section_wait>",
	11: "<OMP-atomic_wait>",
}

// openMP makes the user and expert stacks of an OpenMP program from the
// recorded user stack and state.
func (u *Unwinder) openMP(raw *decode.RawStack, t int64, res *Resolved) {
	frames := append([]Frame(nil), u.native(raw.OMP, t)...)
	for i := range frames {
		frames[i].Rule = RuleOpenMP
	}
	if name, ok := openMPStates[raw.OMPState]; ok {
		leaf := Frame{u.resolver.Artificial(name), RuleOpenMP}
		frames = append([]Frame{leaf}, frames...)
	}
	n := u.intern(frames)
	res.User, res.Expert = n, n
}
