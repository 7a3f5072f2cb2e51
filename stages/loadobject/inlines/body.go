package inlines

import (
	"bytes"

	"stackmill/stages/loadobject/dwarf"
)

// bodyName is in clang's names for the body of a parallel region or task, which it then
// inlines into the function that the run-time library calls (`.omp_outlined._debug__`,
// `f.omp_outlined_debug__`, `.omp_outlined..6`). The body is that function's own code (S11): the
// source has no call.
var bodyName = []byte(".omp_outlined")

// isBody reports whether the entry that an inlined subroutine refers to is the
// body of a parallel region.
func (r *Reader) isBody(x *context, origin dwarf.Value) bool {
	k := x.known
	if k.bodies == nil {
		some := x.s.Mention(bodyName)
		k.bodies = &some
	}
	return *k.bodies && bytes.Contains(x.s.NameOf(x.u, origin), bodyName)
}
