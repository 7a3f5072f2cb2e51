package stacktree

import (
	"math/bits"
	"math/rand/v2"

	"stackmill/internal/chunked"
)

// frameList is the different frames of a tree, which are found again in a hash table: most
// of what is added to a tree are frames that it has.
type frameList struct {
	Frames chunked.List[Frame] // by number; the first is the root's
	seed   uint64              // of hashes: nobody can make frames whose hashes are equal
	table  []frameEntry
}

// frameEntry is the hash of a frame and, in its lower half, its number from 1; 0 is a free
// place.
type frameEntry uint64

// firstFrames is how many places the table has at first; it is a power of 2.
const firstFrames = 1 << 10

func newFrameList() frameList {
	l := frameList{seed: rand.Uint64(), table: make([]frameEntry, firstFrames)}
	root := NewFrame()
	l.Intern(&root)
	return l
}

// Intern returns the number of a frame, which is added if it is new.
func (l *frameList) Intern(f *Frame) FrameNo {
	hash, mask := l.hash(f), len(l.table)-1
	at := int(hash) & mask
	for ; l.table[at] != 0; at = (at + 1) & mask {
		if e := l.table[at]; uint32(e>>32) == hash {
			if n := uint32(e) - 1; *l.Frames.At(int(n)) == *f {
				return FrameNo(n)
			}
		}
	}
	n := FrameNo(l.Frames.Len())
	l.Frames.Add(*f)
	l.table[at] = frameEntry(hash)<<32 | frameEntry(n+1)
	if 4*l.Frames.Len() > 3*len(l.table) {
		l.grow()
	}
	return n
}

// grow makes a table with twice as many places.
func (l *frameList) grow() {
	entries := l.table
	l.table = chunked.Places[frameEntry](2 * len(entries))
	mask := len(l.table) - 1
	for _, e := range entries {
		if e != 0 {
			at := int(e>>32) & mask
			for l.table[at] != 0 {
				at = (at + 1) & mask
			}
			l.table[at] = e
		}
	}
}

// hash returns a number each bit of which depends on all that makes a frame.
func (l *frameList) hash(f *Frame) uint32 {
	two := func(a, b int32) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }
	rest := uint64(f.Rules[User]) | uint64(f.Rules[Expert])<<8 | uint64(f.Rules[Machine])<<16 | uint64(f.Part)<<24
	high, low := bits.Mul64(f.Word^l.seed, two(int32(f.Own), int32(f.Shown[User]))^bits.RotateLeft64(l.seed, 32))
	high, low = bits.Mul64(high^low^0xa0761d6478bd642f, two(int32(f.Shown[Expert]), int32(f.Shown[Machine]))^0xe7037ed1a0b428db)
	high, low = bits.Mul64(high^low, uint64(uint32(f.BCI))<<32^rest^0x8ebc6af09c88c6e3)
	return uint32(high ^ low)
}
