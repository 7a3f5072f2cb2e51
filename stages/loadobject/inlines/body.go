package inlines

import (
	"bytes"
	"slices"

	"stackmill/stages/loadobject/dwarf"
)

// bodyNames are clang's names for the body of a parallel region, which it then inlines
// into the function that the run-time library calls. The body is that function's own
// code (S11): the source has no call.
var bodyNames = [][]byte{[]byte("omp_outlined._debug__"), []byte("omp_outlined_debug__")}

// isBody reports whether the entry that an inlined subroutine refers to is the
// body of a parallel region.
func (r *Reader) isBody(x *context, origin dwarf.Value) bool {
	k := x.known
	if k.bodies == nil {
		some := slices.ContainsFunc(bodyNames, x.s.Mention)
		k.bodies = &some
	}
	return *k.bodies && isBodyName(x.s.NameOf(x.u, origin))
}

func isBodyName(text []byte) bool {
	for _, name := range bodyNames {
		if bytes.Contains(text, name) {
			return true
		}
	}
	return false
}
