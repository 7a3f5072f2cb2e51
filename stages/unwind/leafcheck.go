package unwind

import (
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
)

// useReturnRegister reports whether words[i], the leaf's return register, is a caller (S7). It is
// not a caller if it lies in no known function, if the leaf has set up its frame (the register is
// then stale, and the next word is the caller), or if the leaf is a root function, whose register
// is garbage.
//
// The kind of the leaf decides: for outline and stripped functions the register never counts, for
// others it does unless the next word is the same call.
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
