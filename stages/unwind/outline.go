package unwind

import (
	"slices"

	"stackmill/schema"
	"stackmill/stages/program"
)

// insertOutlineCallers inserts the main function of an outline function or of a part (clone) as its
// caller: the main function jumps there without a call (S12). It inserts nothing if the instruction
// in the caller's frame calls the outline function itself. A part may be called as well as jumped
// to: its main function is inserted only if the caller called the main function.
//
//	before: process.cold <- main
//	after:  process.cold <- process <- main
func (u *Unwinder) insertOutlineCallers(frames []Frame) []Frame {
	for i := 0; i < len(frames); i++ {
		kind := u.traitsOf(&frames[i]).kind()
		if kind != outlineKind && kind != cloneKind {
			continue
		}
		main, ok := u.resolver.MainOf(u.resolver.Program.Location(frames[i].Location).Function)
		if ok && u.jumpedTo(frames, i, main) {
			frames = slices.Insert(frames, i+1, insertedFrame(main, schema.RuleOutline))
		}
	}
	return frames
}

// jumpedTo reports whether the function of frames[i] was entered by a jump from its main function.
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
