package cfi

import (
	"encoding/binary"
	"strings"
	"testing"

	"stackmill/stages/loadobject/isa"
)

// code is the code of composed objects: at 0x1000 in the file, linked at 0x401000.
var code = []Segment{{0x1000, 0x401000, 0x1000}}

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// composer composes `.eh_frame`, or `.debug_frame`.
type composer struct {
	order   byteOrder
	debug   bool
	wide    bool // lengths of 64 bits
	address uint64
	out     []byte
	cie     int
}

func newComposer() *composer { return &composer{order: binary.LittleEndian, address: 0x402000} }

func (c *composer) u32(v uint32) { c.out = c.order.AppendUint32(c.out, v) }
func (c *composer) u64(v uint64) { c.out = c.order.AppendUint64(c.out, v) }

// entry appends an entry: id, then body.
func (c *composer) entry(id uint64, body []byte) {
	for len(body)%8 != 0 {
		body = append(body, 0)
	}
	n := uint64(len(body)) + 4
	if c.wide && c.debug {
		n += 4
	}
	if c.wide {
		c.u32(0xffffffff)
		c.u64(n)
	} else {
		c.u32(uint32(n))
	}
	if c.wide && c.debug {
		c.u64(id)
	} else {
		c.u32(uint32(id))
	}
	c.out = append(c.out, body...)
}

// common appends a CIE: code alignment 1, data alignment -8.
func (c *composer) common(version byte, augmentation string, column byte, data []byte, program ...byte) {
	c.cie = len(c.out)
	id := uint64(0)
	if c.debug {
		id = ^uint64(0)
	}
	body := append(append([]byte{version}, augmentation...), 0)
	if version == 4 {
		body = append(body, 8, 0)
	}
	body = append(body, 1, 0x78, column)
	if strings.HasPrefix(augmentation, "z") {
		body = append(append(body, byte(len(data))), data...)
	}
	c.entry(id, append(body, program...))
}

// function appends an FDE of the last CIE, with pointers already encoded.
func (c *composer) function(pointers []byte, augmented bool, program ...byte) {
	body := pointers
	if augmented {
		body = append(body, 0)
	}
	id := uint64(c.cie)
	if !c.debug {
		id = uint64(len(c.out)) + 4 - uint64(c.cie)
		if c.wide {
			id += 8
		}
	}
	c.entry(id, append(body, program...))
}

// at encodes a function's bounds as addresses of 8 bytes.
func (c *composer) at(start, size uint64) []byte {
	return c.order.AppendUint64(c.order.AppendUint64(nil, start), size)
}

func (c *composer) section() Section { return Section{Bytes: c.out, Address: c.address} }

// amd64CIE is how compilers' CIEs begin: the CFA is rsp+8, with the return address below it.
var amd64CIE = []byte{0x0c, 7, 8, 0x80 | 16, 1}

// Each instruction makes the right rules in its range of a function of 0x40 bytes at 0x1100.
func TestProgram(t *testing.T) {
	tests := []struct {
		name    string
		arch    isa.Arch
		program []byte
		want    map[uint64]string
		bad     int
	}{
		{"nothing", isa.AMD64, nil, map[uint64]string{0x10ff: "none", 0x1100: "cfa=rsp+8 ra=c-8", 0x113f: "cfa=rsp+8 ra=c-8", 0x1140: "none"}, 0},
		{"prologue", isa.AMD64, []byte{0x41, 0x0e, 16, 0x80 | 6, 2, 0x43, 0x0d, 6, 0x5c, 0x0c, 7, 8}, map[uint64]string{
			0x1100: "cfa=rsp+8 ra=c-8", 0x1101: "cfa=rsp+16 rbp=c-16 ra=c-8", 0x1104: "cfa=rbp+16 rbp=c-16 ra=c-8",
			0x1120: "cfa=rsp+8 rbp=c-16 ra=c-8"}, 0},
		{"every advance", isa.AMD64, []byte{0x02, 1, 0x0e, 16, 0x03, 1, 0, 0x0e, 24, 0x04, 1, 0, 0, 0, 0x0e, 32, 0x1d, 1, 0, 0, 0, 0, 0, 0, 0, 0x0e, 40}, map[uint64]string{
			0x1100: "cfa=rsp+8 ra=c-8", 0x1101: "cfa=rsp+16 ra=c-8", 0x1102: "cfa=rsp+24 ra=c-8", 0x1103: "cfa=rsp+32 ra=c-8", 0x1104: "cfa=rsp+40 ra=c-8"}, 0},
		{"set_loc", isa.AMD64, []byte{0x01, 0x20, 0x11, 0x40, 0, 0, 0, 0, 0, 0x0e, 16}, map[uint64]string{
			0x111f: "cfa=rsp+8 ra=c-8", 0x1120: "cfa=rsp+16 ra=c-8"}, 0},
		{"extended", isa.AMD64, []byte{0x05, 3, 2, 0x05, 0x90, 1, 2, 0x11, 12, 0x7d, 0x2f, 13, 4, 0x41, 0x06, 3, 0xc0 | 12}, map[uint64]string{
			0x1100: "cfa=rsp+8 rbx=c-16 r12=c+24 r13=c+32 ra=c-8", 0x1101: "cfa=rsp+8 r13=c+32 ra=c-8"}, 0},
		{"values and registers", isa.AMD64, []byte{0x14, 3, 2, 0x15, 6, 0x7f, 0x09, 12, 13, 0x08, 14, 0x07, 15}, map[uint64]string{
			0x1100: "cfa=rsp+8 rbx=v-16 rbp=v+8 r12=r13 r15=u ra=c-8"}, 0},
		{"signed offsets", isa.AMD64, []byte{0x12, 6, 0x7e, 0x41, 0x13, 0x7d}, map[uint64]string{
			0x1100: "cfa=rbp+16 ra=c-8", 0x1101: "cfa=rbp+24 ra=c-8"}, 0},
		{"remember and restore, the CFA too", isa.AMD64, []byte{0x0e, 16, 0x80 | 3, 2, 0x0a, 0x41, 0x0c, 6, 32, 0xc0 | 3, 0x41, 0x0b}, map[uint64]string{
			0x1100: "cfa=rsp+16 rbx=c-16 ra=c-8", 0x1101: "cfa=rbp+32 ra=c-8", 0x1102: "cfa=rsp+16 rbx=c-16 ra=c-8"}, 0},
		{"expressions", isa.AMD64, []byte{0x0f, 2, 0x77, 8, 0x10, 3, 2, 0x77, 16, 0x16, 6, 1, 0x30}, map[uint64]string{
			0x1100: "cfa=exp rbx=exp rbp=vexp ra=c-8"}, 0},
		{"args_size", isa.AMD64, []byte{0x2e, 0x90, 1, 0x41, 0x0e, 16}, map[uint64]string{0x1101: "cfa=rsp+16 ra=c-8"}, 0},
		{"end of stack", isa.AMD64, []byte{0x07, 16}, map[uint64]string{0x1100: "cfa=rsp+8 ra=u"}, 0},
		{"pointer authentication", isa.ARM64, []byte{0x2d, 0x41, 0x2d}, map[uint64]string{0x1100: "cfa=sp+0 signed", 0x1101: "cfa=sp+0"}, 0},
		{"vector registers", isa.ARM64, []byte{0x05, 72, 4, 0x41, 0x0e, 16, 0x80 | 29, 2, 0x80 | 30, 1}, map[uint64]string{
			0x1100: "cfa=sp+0", 0x1101: "cfa=sp+16 x29=c-16 ra=c-8"}, 0},
		{"beyond the function", isa.AMD64, []byte{0x7f, 0x0e, 16, 0x7f, 0x0e, 24}, map[uint64]string{0x113f: "cfa=rsp+16 ra=c-8", 0x1140: "none"}, 0},

		{"unknown instruction", isa.AMD64, []byte{0x41, 0x3f}, map[uint64]string{0x1100: "cfa=rsp+8 ra=c-8", 0x1101: "none", 0x1140: "none"}, 1},
		{"authentication on another processor", isa.AMD64, []byte{0x2d}, map[uint64]string{0x1100: "none"}, 1},
		{"restored what was not remembered", isa.AMD64, []byte{0x41, 0x0b}, map[uint64]string{0x1101: "none"}, 1},
		{"remembered without end", isa.AMD64, []byte(strings.Repeat("\x0a", 65)), map[uint64]string{0x1100: "none"}, 1},
		{"a register that is not followed", isa.AMD64, []byte{0x0d, 33}, map[uint64]string{0x1100: "none"}, 1},
		{"register of an expression", isa.AMD64, []byte{0x0f, 1, 0x30, 0x0d, 6}, map[uint64]string{0x1100: "none"}, 1},
		{"cut", isa.AMD64, []byte{0x0f, 0x7f}, map[uint64]string{0x1100: "none"}, 1},
		{"backwards", isa.AMD64, []byte{0x41, 0x01, 0, 0, 0x40, 0, 0, 0, 0, 0}, map[uint64]string{0x1101: "none"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newComposer()
			if tt.arch == isa.AMD64 {
				c.common(1, "", 16, nil, amd64CIE...)
			} else {
				c.common(1, "", 30, nil, 0x0c, 31, 0)
			}
			c.function(c.at(0x401100, 0x40), false, tt.program...)
			table := Read(Input{Arch: tt.arch, Order: c.order, Segments: code, EHFrame: c.section()})
			for at, want := range tt.want {
				if got := table.describe(at); got != want {
					t.Errorf("%#x: %s, want %s", at, got, want)
				}
			}
			if table.Bad != tt.bad {
				t.Errorf("%d bad entries, want %d", table.Bad, tt.bad)
			}
			same, err := Decode(table.Append(nil))
			if err != nil {
				t.Fatal(err)
			}
			for at := range tt.want {
				if got, want := same.describe(at), table.describe(at); got != want {
					t.Errorf("decoded: %#x: %s, want %s", at, got, want)
				}
			}
		})
	}
}

// Every form of an entry that compilers and linkers write can be read.
func TestForms(t *testing.T) {
	le, be := byteOrder(binary.LittleEndian), byteOrder(binary.BigEndian)
	pcrel := func(c *composer, n uint64) uint64 { return 0x401100 - c.address - uint64(len(c.out)) - n }
	tests := []struct {
		name    string
		order   byteOrder
		debug   bool
		compose func(c *composer)
		want    string
	}{
		{"version 1", le, false, func(c *composer) {
			c.common(1, "", 16, nil, amd64CIE...)
			c.function(c.at(0x401100, 0x40), false)
		}, "cfa=rsp+8 ra=c-8"},
		{"version 3, big endian", be, false, func(c *composer) {
			c.common(3, "", 16, nil, amd64CIE...)
			c.function(c.at(0x401100, 0x40), false)
		}, "cfa=rsp+8 ra=c-8"},
		{"version 4 of .debug_frame", le, true, func(c *composer) {
			c.common(4, "", 16, nil, amd64CIE...)
			c.function(c.at(0x401100, 0x40), false)
		}, "cfa=rsp+8 ra=c-8"},
		{"64-bit .debug_frame", be, true, func(c *composer) {
			c.wide = true
			c.common(3, "", 16, nil, amd64CIE...)
			c.function(c.at(0x401100, 0x40), false)
		}, "cfa=rsp+8 ra=c-8"},
		{"64-bit lengths", le, false, func(c *composer) {
			c.wide = true
			c.common(1, "zR", 16, []byte{0x1b}, amd64CIE...)
			n := pcrel(c, 16)
			c.function(c.order.AppendUint32(c.order.AppendUint32(nil, uint32(n)), 0x40), true)
		}, "cfa=rsp+8 ra=c-8"},
		{"pc-relative, 4 bytes", le, false, func(c *composer) {
			c.common(1, "zR", 16, []byte{0x1b}, amd64CIE...)
			c.function(c.order.AppendUint32(c.order.AppendUint32(nil, uint32(pcrel(c, 8))), 0x40), true)
		}, "cfa=rsp+8 ra=c-8"},
		{"pc-relative, 8 bytes, a personality and a language's data", le, false, func(c *composer) {
			c.common(1, "zPLR", 16, []byte{0x9b, 1, 2, 3, 4, 0x1b, 0x1c}, amd64CIE...)
			c.function(c.at(pcrel(c, 8), 0x40), true)
		}, "cfa=rsp+8 ra=c-8"},
		{"pc-relative, 2 bytes", le, false, func(c *composer) {
			c.common(1, "zR", 16, []byte{0x1a}, amd64CIE...)
			c.function(c.order.AppendUint16(c.order.AppendUint16(nil, uint16(pcrel(c, 8))), 0x40), true)
		}, "cfa=rsp+8 ra=c-8"},
		{"numbers of variable length", le, false, func(c *composer) {
			c.common(1, "zR", 16, []byte{0x01}, amd64CIE...)
			c.function(append(binary.AppendUvarint(nil, 0x401100), 0x40), true)
		}, "cfa=rsp+8 ra=c-8"},
		{"relative to the text", le, false, func(c *composer) {
			c.common(1, "zR", 16, []byte{0x2b}, amd64CIE...)
			c.function(c.order.AppendUint32(c.order.AppendUint32(nil, 0x100), 0x40), true)
		}, "cfa=rsp+8 ra=c-8"},
		{"relative to the data", le, false, func(c *composer) {
			c.common(1, "zR", 16, []byte{0x39}, amd64CIE...)
			c.function([]byte{0x80, 0xa2, 0x7f, 0xc0, 0}, true) // -0x2f00 from 0x404000
		}, "cfa=rsp+8 ra=c-8"},
		{"signal frame", le, false, func(c *composer) {
			c.common(1, "zRS", 16, []byte{0x00}, amd64CIE...)
			c.function(c.at(0x401100, 0x40), true)
		}, "cfa=rsp+8 ra=c-8 signal"},
		{"behind the end of another's entries", le, false, func(c *composer) {
			c.u32(0)
			c.common(1, "", 16, nil, amd64CIE...)
			c.function(c.at(0x401100, 0x40), false)
		}, "cfa=rsp+8 ra=c-8"},
		{"indirect", le, false, func(c *composer) {
			c.common(1, "zR", 16, []byte{0x80}, amd64CIE...)
			c.function(c.at(0x401100, 0x40), true)
		}, "none"},
		{"unknown version", le, false, func(c *composer) {
			c.common(2, "", 16, nil, amd64CIE...)
			c.function(c.at(0x401100, 0x40), false)
		}, "none"},
		{"unknown augmentation", le, false, func(c *composer) {
			c.common(1, "zX", 16, nil, amd64CIE...)
			c.function(c.at(0x401100, 0x40), true)
		}, "none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newComposer()
			c.order, c.debug = tt.order, tt.debug
			tt.compose(c)
			in := Input{Arch: isa.AMD64, Order: c.order, Segments: code, Text: 0x401000, Data: 0x404000}
			if tt.debug {
				in.Debug = c.section()
			} else {
				in.EHFrame = c.section()
			}
			table := Read(in)
			if got := table.describe(0x1110); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if bad := table.Bad > 0; bad != (tt.want == "none") {
				t.Errorf("%d bad entries", table.Bad)
			}
		})
	}
}

// Of overlapping entries, the one that begins later is used; `.eh_frame` takes precedence over
// `.debug_frame`.
func TestOverlap(t *testing.T) {
	eh, debug := newComposer(), newComposer()
	debug.debug = true
	eh.common(1, "", 16, nil, amd64CIE...)
	eh.function(eh.at(0x401100, 0x20), false)
	eh.function(eh.at(0x401110, 0x20), false, 0x0e, 16)
	eh.function(eh.at(0x500000, 0x20), false) // not in this object's code
	eh.function(eh.at(0x401180, 0), false)    // dropped by the linker
	debug.common(3, "", 16, nil, amd64CIE...)
	debug.function(debug.at(0x401128, 0x10), false, 0x0e, 24)
	debug.function(debug.at(0x401130, 0x10), false, 0x0e, 32)
	table := Read(Input{Arch: isa.AMD64, Order: eh.order, Segments: code, EHFrame: eh.section(), Debug: debug.section()})
	for at, want := range map[uint64]string{0x1100: "cfa=rsp+8 ra=c-8", 0x1110: "cfa=rsp+16 ra=c-8", 0x112f: "cfa=rsp+16 ra=c-8",
		0x1130: "cfa=rsp+32 ra=c-8", 0x1140: "none", 0x1180: "none"} {
		if got := table.describe(at); got != want {
			t.Errorf("%#x: %s, want %s", at, got, want)
		}
	}
	if table.Bad != 0 {
		t.Errorf("%d bad entries", table.Bad)
	}
}

// The search table's header has the address of `.eh_frame`; a length of 0 ends `.eh_frame`.
func TestFrameSection(t *testing.T) {
	head := []byte{1, 0x1b, 3, 0x3b, 0xfc, 0x0f, 0, 0}
	if at, ok := FrameSection(head, 0x401000, binary.LittleEndian); !ok || at != 0x402000 {
		t.Errorf("%#x %t", at, ok)
	}
	if _, ok := FrameSection(head[:4], 0x401000, binary.LittleEndian); ok {
		t.Error("found in a cut header")
	}
	c := newComposer()
	c.common(1, "", 16, nil, amd64CIE...)
	c.function(c.at(0x401100, 0x40), false)
	c.u32(0)
	c.out = append(c.out, "rodata, not an entry"...)
	s := c.section()
	s.Open = true
	if table := Read(Input{Arch: isa.AMD64, Order: c.order, Segments: code, EHFrame: s}); table.Bad != 0 || table.describe(0x1110) == "none" {
		t.Errorf("%d bad entries, %s", table.Bad, table.describe(0x1110))
	}
}
