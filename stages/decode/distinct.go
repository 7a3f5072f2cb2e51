package decode

import (
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// Distinct numbers raw stacks by their content: equal ones have one number.
type Distinct struct {
	Stacks []RawStack // by number

	numbers map[string]int32 // by key
	key     []byte
}

// NewDistinct returns a list that begins with these stacks, which differ.
func NewDistinct(stacks []RawStack) *Distinct {
	d := &Distinct{Stacks: stacks, numbers: make(map[string]int32, len(stacks))}
	for i := range stacks {
		d.encode(&stacks[i])
		d.numbers[string(d.key)] = int32(i)
	}
	return d
}

// Number returns a stack's number. A new stack is copied and gets an ID from its
// content.
func (d *Distinct) Number(raw *RawStack) int32 {
	d.encode(raw)
	n, ok := d.numbers[string(d.key)]
	if ok {
		return n
	}
	n = int32(len(d.Stacks))
	s := *raw
	s.ID, s.Words, s.Exact, s.ByFrame = xxhash.Sum64(d.key), slices.Clone(raw.Words), slices.Clone(raw.Exact), slices.Clone(raw.ByFrame)
	d.Stacks = append(d.Stacks, s)
	if d.numbers == nil {
		d.numbers = map[string]int32{}
	}
	d.numbers[string(d.key)] = n
	return n
}

// encode makes a stack's key.
func (d *Distinct) encode(raw *RawStack) {
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
}
