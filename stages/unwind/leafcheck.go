package unwind

import (
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
)

// useReturnRegister reports whether words[i], the return register recorded at the leaf, is the
// leaf's caller (S7). It is not if it lies in no known function, if the leaf has set up its frame
// (then the register is stale, and the next word is the caller), or if the leaf is a root function,
// where the register holds garbage.
//
// The kind of the leaf decides: in outline and stripped functions the register is never the caller,
// in others it is unless the next word is the same.
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
