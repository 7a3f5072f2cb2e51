package decode

import (
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/cespare/xxhash/v2"

	"stackmill/stages/arena"
)

// Distinct numbers raw stacks by their content: equal ones have one number.
type Distinct struct {
	Stacks []RawStack // by number

	// Hashes have a seed of their own: nobody can make stacks whose hashes are equal.
	seed    maphash.Seed
	numbers map[uint64]int32 // by hash
	more    []int32          // those whose hash is another's, too
	key     []byte
	words   arena.Arena[uint64]
	places  arena.Arena[int32]
}

// NewDistinct returns a list that begins with these stacks, which differ.
func NewDistinct(stacks []RawStack) *Distinct {
	d := &Distinct{Stacks: stacks, seed: maphash.MakeSeed(), numbers: make(map[uint64]int32, len(stacks))}
	for i := range stacks {
		d.know(d.hash(&stacks[i]), int32(i))
	}
	return d
}

// Number returns a stack's number. A new stack is copied and gets an ID from its
// content.
func (d *Distinct) Number(raw *RawStack) int32 {
	if d.numbers == nil {
		d.seed, d.numbers = maphash.MakeSeed(), map[uint64]int32{}
	}
	h := d.hash(raw)
	if n, ok := d.numbers[h]; ok {
		if same(&d.Stacks[n], raw) {
			return n
		}
		for _, n := range d.more {
			if same(&d.Stacks[n], raw) {
				return n
			}
		}
	}
	n := int32(len(d.Stacks))
	s := *raw
	s.ID, s.Words, s.Exact, s.ByFrame = xxhash.Sum64(d.key), d.words.Copy(raw.Words), d.places.Copy(raw.Exact), d.places.Copy(raw.ByFrame)
	d.Stacks = append(d.Stacks, s)
	d.know(h, n)
	return n
}

// know remembers the hash of a stack that differs from all others.
func (d *Distinct) know(hash uint64, n int32) {
	if _, taken := d.numbers[hash]; taken {
		d.more = append(d.more, n)
		return
	}
	d.numbers[hash] = n
}

// same reports whether two stacks are equal in what hash covers.
func same(a, b *RawStack) bool {
	return a.Kernel == b.Kernel && a.Callers == b.Callers && a.Reason == b.Reason &&
		slices.Equal(a.Words, b.Words) && slices.Equal(a.Exact, b.Exact) && slices.Equal(a.ByFrame, b.ByFrame)
}

// hash makes a stack's key, of its content, and returns the key's hash.
func (d *Distinct) hash(raw *RawStack) uint64 {
	key := d.key[:0]
	for _, w := range raw.Words {
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	key = binary.LittleEndian.AppendUint32(key, uint32(raw.Kernel))
	for _, n := range raw.Exact {
		key = binary.LittleEndian.AppendUint32(key, uint32(n))
	}
	for _, n := range raw.ByFrame {
		key = binary.LittleEndian.AppendUint32(key, ^uint32(n))
	}
	key = append(key, raw.Reason...)
	d.key = append(key, byte(raw.Callers))
	return maphash.Bytes(d.seed, d.key)
}
