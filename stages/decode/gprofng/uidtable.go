package gprofng

import (
	"math/bits"
	"math/rand/v2"

	"stackmill/internal/chunked"
)

// uidTable maps the uids of stacks to their numbers, for each event. The uids come from a
// recording: a random seed prevents deliberate collisions.
type uidTable struct {
	slots []uidSlot // their number is a power of 2
	seed  uint64
}

// uidSlot is a uid and its stack's number, from 1; 0 for a free slot.
type uidSlot struct {
	uid    uint64
	number int32
}

// newUIDTable returns a table for that many stacks.
func newUIDTable(stacks int) uidTable {
	return uidTable{slots: chunked.MakeTable[uidSlot](1 << bits.Len(uint(2*stacks))), seed: rand.Uint64()}
}

// slot returns the slot of a uid, or a free one for it.
func (t *uidTable) slot(uid uint64) *uidSlot {
	high, low := bits.Mul64(uid^t.seed, 0x9e3779b97f4a7c15)
	mask := len(t.slots) - 1
	for at := int(high^low) & mask; ; at = (at + 1) & mask {
		if p := &t.slots[at]; p.uid == uid || p.number == 0 {
			return p
		}
	}
}

// number returns the number of a uid's stack; false if it has none.
func (t *uidTable) number(uid uint64) (number int32, ok bool) {
	p := t.slot(uid)
	return p.number - 1, p.number != 0
}

// put gives a uid a number. The table has room for it.
func (t *uidTable) put(uid uint64, number int32) {
	*t.slot(uid) = uidSlot{uid, number + 1}
}
