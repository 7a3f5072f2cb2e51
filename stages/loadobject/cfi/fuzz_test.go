package cfi

import (
	"encoding/binary"
	"testing"

	"stackmill/stages/loadobject/isa"
)

// Any sections, stacks and encodings are read without a panic and in bounded time, and a table is
// the same after encoding and decoding.
func FuzzWalk(f *testing.F) {
	add := func(c *composer, debug bool, stack []byte) { f.Add(c.out, debug, false, stack, uint64(0x10)) }
	eh, debug := newComposer(), newComposer()
	eh.common(1, "zRS", 16, []byte{0}, amd64CIE...)
	eh.function(eh.at(0x401100, 0x40), true, 0x41, 0x0e, 16, 0x0a, 0x80|6, 2, 0x43, 0x0d, 6, 0x0b, 0x10, 3, 2, 0x77, 8)
	eh.common(1, "zPLR", 16, []byte{0x9b, 1, 2, 3, 4, 0x1b, 0x1b}, 0x0f, 10, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24)
	eh.function(eh.at(0x401140, 0x40), true, 0x16, 16, 2, 0x80, 0)
	debug.debug = true
	debug.common(4, "", 30, nil, 0x0c, 31, 0)
	debug.function(debug.at(0x401100, 0x40), false, 0x2d, 0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3)
	add(eh, false, dump(false, pc(0, 9), 0x5010, pc(0, 0x20), 0))
	add(debug, true, dump(true, pc(0, 9), 0x5010, pc(0, 0x20), 0))
	f.Fuzz(func(t *testing.T, section []byte, isDebug, big bool, stack []byte, at uint64) {
		in := Input{Arch: isa.AMD64, Order: binary.LittleEndian, Segments: code, Text: 0x401000, Data: 0x404000, Entry: 0x401150}
		if isDebug {
			in.Arch, in.Debug = isa.ARM64, Section{Bytes: section}
		} else {
			in.EHFrame = Section{Bytes: section, Address: 0x402000, Open: big}
		}
		if big {
			in.Order = binary.BigEndian
		}
		table := Read(in)
		encoded := table.Append(nil)
		again, err := Decode(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if string(again.Append(nil)) != string(encoded) {
			t.Error("it is another when it is read again")
		}
		for _, mistaken := range [][]byte{section, stack} {
			if wrong, err := Decode(mistaken); err == nil {
				walk(wrong, big, stack, at)
			}
		}
		walk(again, big, stack, at)
	})
}

func walk(t *Table, big bool, stack []byte, at uint64) {
	w := NewWalker(max(t.Arch, isa.AMD64), big)
	w.Process(&process{t, map[uint64]uint64{loaded + 0x1800: 0x5010}})
	r := registers(w.arch, pc(0, at%0x100))
	for i := range r.Value {
		if r.Known>>i&1 == 0 && at>>8>>(i%50)&1 != 0 {
			r.Value[i], r.Known = 0x5000+at>>i, r.Known|1<<i
		}
	}
	w.Walk(r, stack, true, 5)
}
