package unwind

import "stackmill/schema"

// dropPLTLeaf drops a leaf in the procedure linkage table: its values belong to the caller, which
// made the call (S22). If the caller is missing, the leaf is kept.
//
//	before: @plt <- caller_inc <- main
//	after:  caller_inc <- main
func (u *Unwinder) dropPLTLeaf(frames []Frame) []Frame {
	if !u.isStub(frames) {
		return frames
	}
	u.noteDropped(frames[0], schema.RulePLT)
	frames = frames[1:]
	if frames[0].Rule == schema.NoRule {
		frames[0].Rule = schema.RulePLT
	}
	return frames
}

// isStub reports whether the leaf is in the procedure linkage table and the next frame is its
// caller.
func (u *Unwinder) isStub(frames []Frame) bool {
	return len(frames) > 1 && u.traitsOf(&frames[0]).kind() == pltKind && frames[1].Rule != schema.RuleMissing
}
