package gprofng

import (
	"math/bits"
	"math/rand/v2"

	"stackmill/internal/chunked"
)

// uidTable has the numbers of stacks by their uids: each event asks for one. The uids come
// from a recording: a seed of chance keeps those that were chosen to have the same place
// from taking forever.
type uidTable struct {
	places []uidPlace // their number is a power of 2
	seed   uint64
}

// uidPlace is a uid and its stack's number, from 1; 0 is a free place.
type uidPlace struct {
	uid    uint64
	number int32
}

// newUIDTable returns a table with room for so many stacks.
func newUIDTable(stacks int) uidTable {
	return uidTable{places: chunked.MakeTable[uidPlace](1 << bits.Len(uint(2*stacks))), seed: rand.Uint64()}
}

// place returns where a uid is, or may be put.
func (t *uidTable) place(uid uint64) *uidPlace {
	high, low := bits.Mul64(uid^t.seed, 0x9e3779b97f4a7c15)
	mask := len(t.places) - 1
	for at := int(high^low) & mask; ; at = (at + 1) & mask {
		if p := &t.places[at]; p.uid == uid || p.number == 0 {
			return p
		}
	}
}

// number returns the number of a uid's stack; false if it has none.
func (t *uidTable) number(uid uint64) (number int32, ok bool) {
	p := t.place(uid)
	return p.number - 1, p.number != 0
}

// put gives a uid a number. The table has room for it.
func (t *uidTable) put(uid uint64, number int32) {
	*t.place(uid) = uidPlace{uid, number + 1}
}
