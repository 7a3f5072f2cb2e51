package unwind

import (
	"stackmill/schema"
)

// plt drops a leaf in the procedure linkage table: its time is that of the call
// (S22). It stays where no frame is its caller's, so that no stack loses its leaf.
//
//	before: @plt <- caller_inc <- main
//	after:  caller_inc <- main
func (u *Unwinder) plt(frames []Frame) []Frame {
	if !u.isStub(frames) {
		return frames
	}
	u.drop(frames[0], schema.RulePLT)
	frames = frames[1:]
	if frames[0].Rule == schema.NoRule {
		frames[0].Rule = schema.RulePLT
	}
	return frames
}

// isStub reports whether the leaf is in the procedure linkage table and the next
// frame is its caller's.
func (u *Unwinder) isStub(frames []Frame) bool {
	return len(frames) > 1 && u.traitsOf(&frames[0]).kind() == pltKind && frames[1].Rule != schema.RuleMissing
}
