package stacktree

import (
	"math/bits"
	"math/rand/v2"

	"stackmill/internal/chunked"
)

// frameTable interns the frames of a tree.
type frameTable struct {
	Frames chunked.List[Frame] // by number; the first is the root's
	seed   uint64              // random, so that no recording can be made whose hashes collide
	slots  []frameEntry        // linear probing
}

// frameEntry is the hash of a frame and, in the lower half, its number from 1. A free slot is 0.
type frameEntry uint64

// firstFrames is the initial number of slots, a power of 2.
const firstFrames = 1 << 10

func newFrameList() frameTable {
	l := frameTable{seed: rand.Uint64(), slots: make([]frameEntry, firstFrames)}
	root := NewFrame()
	l.Intern(&root)
	return l
}

// Intern returns the number of a frame. It adds new ones.
func (l *frameTable) Intern(f *Frame) FrameNo {
	hash, mask := l.hash(f), len(l.slots)-1
	at := int(hash) & mask
	for ; l.slots[at] != 0; at = (at + 1) & mask {
		if e := l.slots[at]; uint32(e>>32) == hash {
			if n := uint32(e) - 1; *l.Frames.At(int(n)) == *f {
				return FrameNo(n)
			}
		}
	}
	n := FrameNo(l.Frames.Len())
	l.Frames.Add(*f)
	l.slots[at] = frameEntry(hash)<<32 | frameEntry(n+1)
	if 4*l.Frames.Len() > 3*len(l.slots) {
		l.grow()
	}
	return n
}

// grow doubles the number of slots.
func (l *frameTable) grow() {
	entries := l.slots
	l.slots = chunked.MakeTable[frameEntry](2 * len(entries))
	mask := len(l.slots) - 1
	for _, e := range entries {
		if e != 0 {
			at := int(e>>32) & mask
			for l.slots[at] != 0 {
				at = (at + 1) & mask
			}
			l.slots[at] = e
		}
	}
}

// hash mixes all fields of a frame into each bit of the result.
func (l *frameTable) hash(f *Frame) uint32 {
	two := func(a, b int32) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }
	rest := uint64(f.Rules[User]) | uint64(f.Rules[Expert])<<8 | uint64(f.Rules[Machine])<<16 | uint64(f.Part)<<24
	high, low := bits.Mul64(f.Word^l.seed, two(int32(f.Own), int32(f.Shown[User]))^bits.RotateLeft64(l.seed, 32))
	high, low = bits.Mul64(high^low^0xa0761d6478bd642f, two(int32(f.Shown[Expert]), int32(f.Shown[Machine]))^0xe7037ed1a0b428db)
	high, low = bits.Mul64(high^low, uint64(uint32(f.BCI))<<32^rest^0x8ebc6af09c88c6e3)
	return uint32(high ^ low)
}
