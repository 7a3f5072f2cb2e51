package unwind

import (
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
)

// useReturnRegister reports whether words[i], the leaf's return register, is a caller (S7).
// It is none if it lies in no known function; if the leaf has set up its frame already, so
// that the register is stale and the next word is the caller; nor in the stack of a root
// function, whose register is garbage.
//
// The kind of the leaf decides: outline and stripped functions never use the register, others
// use it unless the next word is the same call.
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
