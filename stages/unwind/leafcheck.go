package unwind

import (
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
)

// useReturnRegister decides whether words[i], the leaf's return register, is a
// caller (S7). It is not when it lies in no known function; when the leaf has
// set up its frame already, so that the register is stale and the next word is
// the caller; nor in the stack of a root function, whose register is garbage.
//
// Whether the frame is set up shows in the leaf itself: an outline function
// and a stripped one never use the register, others use it when the next word
// is not the same call.
func (u *Unwinder) useReturnRegister(words []uint64, i int, location program.LocationNo) bool {
	if u.function(location).Kind == program.Unknown || len(u.frames) == 0 {
		return false
	}
	switch u.function(u.frames[0].Location).Kind {
	case funcinfo.Outline, funcinfo.Static:
		return false
	}
	rootOnly := len(words) == 3 // leaf, marker, register
	return !rootOnly && (i+1 == len(words) || words[i+1] != words[i])
}
