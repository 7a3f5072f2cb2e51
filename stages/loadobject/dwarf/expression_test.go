package dwarf

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"stackmill/stages/loadobject/types"
)

// wideUnit is a unit with 8-byte addresses of a version.
func wideUnit(version int) *unit {
	return &unit{format: format{version: version, addrSize: 8}, attrs: map[uint64]value{}}
}

func tellPlace(p types.Place) string {
	kinds := map[types.PlaceKind]string{types.InRegister: "in r", types.AtRegister: "at r", types.AtFrame: "at frame ",
		types.AtCFA: "at CFA ", types.IsRegister: "is r", types.PointedRegister: "pointed r", types.PointedFrame: "pointed frame ", types.EntryRegister: "entry r"}
	s := fmt.Sprintf("%s%d%+d", kinds[p.Kind], p.Register, p.Offset)
	if p.PieceSize > 0 {
		s += fmt.Sprintf(" [%d,%d)", p.Piece, p.Piece+p.PieceSize)
	}
	return s
}

// Each expression of compilers is the place that it computes, others are none.
func TestEvaluate(t *testing.T) {
	s := &sections{order: binary.LittleEndian, addr: []byte{0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x20, 0, 0, 0, 0, 0, 0}}
	u := wideUnit(5)
	for _, x := range []struct {
		what       string
		expression []byte
		want       string
	}{
		{"none", nil, ""},
		{"register 3", []byte{0x53}, "in r3+0"},
		{"register by number", []byte{0x90, 33}, "in r33+0"},
		{"register and offset", []byte{0x77, 0x78}, "at r7-8"},
		{"register by number and offset", []byte{0x92, 40, 0x10}, "at r40+16"},
		{"frame base", []byte{0x91, 0x68}, "at frame 0-24"},
		{"CFA", []byte{0x9c}, "at CFA 0+0"},
		{"CFA minus constant", []byte{0x9c, 0x11, 0x70, 0x22}, "at CFA 0-16"},
		{"CFA minus literal", []byte{0x9c, 0x38, 0x1c}, "at CFA 0-8"},
		{"sum", []byte{0x77, 8, 0x23, 16}, "at r7+24"},
		{"value of a register", []byte{0x73, 4, 0x9f}, "is r3+4"},
		{"pointed to", []byte{0x91, 0x58, 0x06}, "pointed frame 0-40"},
		{"pointed to by a register", []byte{0x76, 16, 0x06}, "pointed r6+16"},
		{"what is pointed to and more", []byte{0x76, 16, 0x06, 0x23, 8}, ""},
		{"what is pointed to as a value", []byte{0x76, 16, 0x06, 0x9f}, ""},
		{"pointed to twice", []byte{0x76, 16, 0x06, 0x06}, ""},
		{"address", []byte{0x03, 0x78, 0x56, 0x34, 0x12, 0, 0, 0, 0}, "0x12345678"},
		{"address and offset", []byte{0x03, 0x78, 0x56, 0x34, 0x12, 0, 0, 0, 0, 0x23, 8}, "0x12345680"},
		{"address by index", []byte{0xa1, 1}, "0x2010"},
		{"address by GNU's index", []byte{0xfb, 1}, "0x2010"},
		{"an address that is a value", []byte{0x03, 0x78, 0x56, 0x34, 0x12, 0, 0, 0, 0, 0x9f}, ""},
		{"of a thread", []byte{0x0e, 0x18, 0, 0, 0, 0, 0, 0, 0, 0x9b}, "thread 0x18"},
		{"of a thread in GNU's way", []byte{0x0e, 0x18, 0, 0, 0, 0, 0, 0, 0, 0xe0}, "thread 0x18"},
		{"of a thread by index", []byte{0xfc, 1, 0xe0}, "thread 0x2010"},
		{"pieces", []byte{0x50, 0x93, 8, 0x91, 0x60, 0x93, 4}, "in r0+0 [0,8); at frame 0-32 [8,12)"},
		{"a piece that is nowhere", []byte{0x93, 8, 0x51, 0x93, 8}, "in r1+0 [8,16)"},
		{"a piece that is a number", []byte{0x35, 0x9f, 0x93, 4, 0x51, 0x93, 4}, "in r1+0 [4,8)"},
		{"pieces of bits", []byte{0x50, 0x9d, 16, 0, 0x51, 0x9d, 3, 0}, "in r0+0 [0,2)"},
		{"an endless piece", []byte{0x50, 0x93, 0}, ""},
		{"a number", []byte{0x35, 0x9f}, ""},
		{"bytes", []byte{0x9e, 2, 1, 2}, ""},
		{"the value at entry", []byte{0xa3, 1, 0x55, 0x9f}, "entry r5+0"},
		{"GNU's value at entry", []byte{0xf3, 1, 0x55, 0x9f}, "entry r5+0"},
		{"more than the value at entry", []byte{0xa3, 1, 0x55, 0x23, 8, 0x9f}, ""},
		{"memory at the value at entry", []byte{0xa3, 1, 0x55}, ""},
		{"the value at entry of memory", []byte{0xa3, 2, 0x75, 8, 0x9f}, ""},
		{"a sum of registers", []byte{0x70, 0, 0x71, 0, 0x22}, ""},
		{"a value that is computed", []byte{0x70, 0, 0x33, 0x1e, 0x9f}, ""},
		{"a converted value", []byte{0x70, 0, 0xa8, 0x20, 0x9f}, ""},
		{"a jump", []byte{0x50, 0x2f, 0xff, 0xff}, ""},
		{"a sum of nothing", []byte{0x22}, ""},
		{"half an address", []byte{0x03, 1, 2}, ""},
		{"unknown", []byte{0x50, 0xff}, ""},
		{"long", append([]byte{0x53}, make([]byte, maxExpression)...), ""},
	} {
		var got []string
		at := s.evaluate(u, x.expression, func(p types.Place) { got = append(got, tellPlace(p)) })
		if at.ok {
			text := fmt.Sprintf("%#x", at.address)
			if at.thread {
				text = "thread " + text
			}
			got = append(got, text)
		}
		if text := strings.Join(got, "; "); text != x.want {
			t.Errorf("%s: got %q, want %q", x.what, text, x.want)
		}
	}
}

func list(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = append(b, byte(p))
		case uint64:
			b = binary.LittleEndian.AppendUint64(b, p)
		case uint32:
			b = binary.LittleEndian.AppendUint32(b, p)
		case uint16:
			b = binary.LittleEndian.AppendUint16(b, p)
		}
	}
	return b
}

// Every kind of entry of the lists of both formats and of GNU's draft.
func TestLocationLists(t *testing.T) {
	addr := list(uint64(0x1000), uint64(0x1040))
	old := list(uint64(0x10), uint64(0x20), uint16(1), 0x50, // from the unit's address on
		^uint64(0), uint64(0x2000), // another base
		uint64(0x30), uint64(0x38), uint16(2), 0x77, 8, uint64(0), uint64(0))
	draft := list(1, 0, 2, 0, 1, uint16(1), 0x50, 3, 1, uint32(8), uint16(1), 0x51, 0)
	body := list(9, 0, 1, 4, 4, 8, 1, 0x50, // views, then an offset pair
		1, 1, 4, 0, 4, 1, 0x51, // a base by index
		2, 0, 1, 1, 0x52, // by indexes
		3, 1, 16, 1, 0x53,
		5, 1, 0x54, // always
		6, uint64(0x3000), 4, 1, 2, 1, 0x55,
		7, uint64(0x4000), uint64(0x4004), 1, 0x56,
		8, uint64(0x5000), 6, 1, 0x57,
		4, 3, 3, 1, 0x58, // empty
		0, 4, 0, 9, 1, 0x59)
	head := list(uint32(0), uint16(5), 8, 0, uint32(1), uint32(4)) // one list, behind its own offset
	for _, x := range []struct {
		what    string
		version int
		split   bool
		s       sections
		where   value
		want    string
	}{
		{"version 4", 4, false, sections{loc: old}, value{form: formSecOffset}, "0x110-0x120 in r0+0; 0x2030-0x2038 at r7+8"},
		{"version 3", 3, false, sections{loc: append(make([]byte, 3), old...)}, value{form: formData4, u: 3}, "0x110-0x120 in r0+0; 0x2030-0x2038 at r7+8"},
		{"GNU's draft", 4, true, sections{loc: draft}, value{form: formSecOffset}, "0x1000-0x1040 in r0+0; 0x1040-0x1048 in r1+0"},
		{"version 5", 5, false, sections{loclists: body}, value{form: formSecOffset},
			"0x104-0x108 in r0+0; 0x1040-0x1044 in r1+0; 0x1000-0x1040 in r2+0; 0x1040-0x1050 in r3+0; 0x0-0xffffffffffffffff in r4+0; " +
				"0x3001-0x3002 in r5+0; 0x4000-0x4004 in r6+0; 0x5000-0x5006 in r7+0"},
		{"version 5 by index", 5, false, sections{loclists: append(head, list(3, 0, 2, 1, 0x50, 0)...)}, value{form: formLoclistx}, "0x1000-0x1002 in r0+0"},
		{"no list there", 5, false, sections{loclists: body}, value{form: formSecOffset, u: 1 << 40}, ""},
		{"cut", 4, false, sections{loc: old[:17]}, value{form: formSecOffset}, ""},
		{"an expression", 4, false, sections{}, value{form: formExprloc, b: []byte{0x50}}, "0x0-0xffffffffffffffff in r0+0"},
		{"a number", 4, false, sections{loc: old}, value{form: formData1, u: 1}, ""},
	} {
		s, linked := &x.s, &sections{}
		s.order, s.addr = binary.LittleEndian, addr
		s.bound()
		s.entries = 100
		*linked = *s
		if !x.split {
			linked = s
		}
		u := wideUnit(x.version)
		u.attrs[attrLowPC] = value{form: formAddr, u: 0x100}
		var got []string
		s.location(u, linked, x.where, func(p types.Place) {
			got = append(got, fmt.Sprintf("%#x-%#x %s", p.Low, p.High, tellPlace(p)))
		})
		if text := strings.Join(got, "; "); text != x.want {
			t.Errorf("%s:\ngot  %s\nwant %s", x.what, text, x.want)
		}
	}
}
