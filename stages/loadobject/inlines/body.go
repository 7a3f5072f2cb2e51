package inlines

import (
	"bytes"

	"stackmill/stages/loadobject/dwarf"
)

// bodyName is part of clang's names for the body of a parallel region or task, which it
// inlines into the function that the run-time library calls (`.omp_outlined._debug__`,
// `f.omp_outlined_debug__`, `.omp_outlined..6`). The body is the code of that function (S11):
// the source has no call.
var bodyName = []byte(".omp_outlined")

// isBody reports whether the origin of an inlined subroutine is the body of a parallel region.
func (r *Reader) isBody(x *unitContext, origin dwarf.Value) bool {
	return x.cache.hasBodies() && bytes.Contains(x.s.NameOf(x.u, origin), bodyName)
}
