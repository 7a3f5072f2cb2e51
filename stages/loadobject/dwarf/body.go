package dwarf

import (
	"bytes"
	"slices"
)

// bodyNames are what clang calls the body of a parallel region, which it then
// inlines into the function that the run-time library calls. It is that
// function's own code (S11): nobody wrote a call.
var bodyNames = [][]byte{[]byte("omp_outlined._debug__"), []byte("omp_outlined_debug__")}

// isBody reports whether the entry that an inlined subroutine refers to is the
// body of a parallel region.
func isBody(s *sections, u *unit, origin value) bool {
	k := knownOf(s)
	if k.bodies == nil {
		some := slices.ContainsFunc(bodyNames, s.mention)
		k.bodies = &some
	}
	return *k.bodies && isBodyName(s.nameOf(u, origin))
}

func isBodyName(text []byte) bool {
	for _, name := range bodyNames {
		if bytes.Contains(text, name) {
			return true
		}
	}
	return false
}
