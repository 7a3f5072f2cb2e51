package build

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/types"
)

func tellPlace(p types.Place) string {
	kinds := map[types.PlaceKind]string{types.InRegister: "in r", types.AtRegister: "at r", types.AtFrame: "at frame ",
		types.AtCFA: "at CFA ", types.IsRegister: "is r", types.PointedRegister: "pointed r", types.PointedFrame: "pointed frame ", types.EntryRegister: "entry r"}
	s := fmt.Sprintf("%s%d%+d", kinds[p.Kind], p.Register, p.Offset)
	if p.PieceSize > 0 {
		s += fmt.Sprintf(" [%d,%d)", p.Piece, p.Piece+p.PieceSize)
	}
	return s
}

// Each expression that compilers write evaluates to its place, any other to none.
func TestEvaluate(t *testing.T) {
	s := &dwarf.Sections{Order: binary.LittleEndian, Addr: []byte{0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x20, 0, 0, 0, 0, 0, 0}}
	u := &dwarf.Unit{Format: dwarf.Format{Version: 5, AddrSize: 8}}
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
		{"split an address", []byte{0x03, 1, 2}, ""},
		{"unknown", []byte{0x50, 0xff}, ""},
		{"long", append([]byte{0x53}, make([]byte, maxExpression)...), ""},
	} {
		var got []string
		at := evaluate(s, u, x.expression, func(p types.Place) { got = append(got, tellPlace(p)) })
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
