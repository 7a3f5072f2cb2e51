package unwind

import (
	"slices"

	"stackmill/schema"
	"stackmill/stages/program"
)

// outlines puts in the function that an outline function or a part of it was cut
// out of, as its caller: it jumps there and does not call (S12). Where the
// caller's instruction calls the outline function itself, nothing is put in; a
// part that is both called and jumped to gets its function as caller only if the
// caller called that function.
//
//	before: process.cold <- main
//	after:  process.cold <- process <- main
func (u *Unwinder) outlines(frames []Frame) []Frame {
	for i := 0; i < len(frames); i++ {
		kind := u.traitsOf(&frames[i]).kind()
		if kind != outlineKind && kind != cloneKind {
			continue
		}
		main, ok := u.resolver.MainOf(u.resolver.Program.Location(frames[i].Location).Function)
		if ok && u.jumpedTo(frames, i, main) {
			frames = slices.Insert(frames, i+1, putIn(main, schema.RuleOutline))
		}
	}
	return frames
}

// jumpedTo reports whether the function of a frame was jumped to by the one that
// it was cut out of.
func (u *Unwinder) jumpedTo(frames []Frame, i int, main program.LocationNo) bool {
	p := u.resolver.Program
	outline := u.traitsOf(&frames[i]).kind() == outlineKind
	if i+1 == len(frames) {
		return outline
	}
	call := frames[i+1].Location
	if outline {
		return !u.scope.CallEnters(call, p.Location(frames[i].Location).Function)
	}
	return u.scope.CallEnters(call, p.Location(main).Function)
}
