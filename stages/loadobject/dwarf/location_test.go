package dwarf

import (
	debugdwarf "debug/dwarf"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

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

// Every kind of list entry can be read, in both formats and in GNU's draft.
func TestLocationLists(t *testing.T) {
	addr := list(uint64(0x1000), uint64(0x1040))
	old := list(uint64(0x10), uint64(0x20), uint16(1), 0x50, // relative to the unit's address
		^uint64(0), uint64(0x2000), // a new base
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
	head := list(uint32(0), uint16(5), 8, 0, uint32(1), uint32(4)) // one list, after its own offset
	for _, x := range []struct {
		what    string
		version int
		split   bool
		s       Sections
		where   Value
		want    string
	}{
		{"version 4", 4, false, Sections{loc: old}, Value{Form: formSecOffset}, "0x110-0x120 50; 0x2030-0x2038 7708"},
		{"version 3", 3, false, Sections{loc: append(make([]byte, 3), old...)}, Value{Form: FormData4, Uint: 3}, "0x110-0x120 50; 0x2030-0x2038 7708"},
		{"GNU's draft", 4, true, Sections{loc: draft}, Value{Form: formSecOffset}, "0x1000-0x1040 50; 0x1040-0x1048 51"},
		{"version 5", 5, false, Sections{loclists: body}, Value{Form: formSecOffset},
			"0x104-0x108 50; 0x1040-0x1044 51; 0x1000-0x1040 52; 0x1040-0x1050 53; 0x0-0xffffffffffffffff 54; " +
				"0x3001-0x3002 55; 0x4000-0x4004 56; 0x5000-0x5006 57"},
		{"version 5 by index", 5, false, Sections{loclists: append(head, list(3, 0, 2, 1, 0x50, 0)...)}, Value{Form: formLoclistx}, "0x1000-0x1002 50"},
		{"no list there", 5, false, Sections{loclists: body}, Value{Form: formSecOffset, Uint: 1 << 40}, ""},
		{"cut", 4, false, Sections{loc: old[:17]}, Value{Form: formSecOffset}, ""},
		{"an expression", 4, false, Sections{}, Value{Form: FormExprloc, Bytes: []byte{0x50}}, "0x0-0xffffffffffffffff 50"},
		{"a number", 4, false, Sections{loc: old}, Value{Form: FormData1, Uint: 1}, ""},
	} {
		s, linked := &x.s, &Sections{}
		s.Order, s.Addr = binary.LittleEndian, addr
		s.SetBudget()
		s.listEntries = 100
		*linked = *s
		if !x.split {
			linked = s
		}
		u := &Unit{Format: Format{Version: x.version, AddrSize: 8}, Attrs: Attrs{{debugdwarf.AttrLowpc, Value{Form: formAddr, Uint: 0x100}}}}
		var got []string
		s.Location(u, linked, x.where, func(where Range, expression []byte) {
			got = append(got, fmt.Sprintf("%#x-%#x %x", where.Low, where.High, expression))
		})
		if text := strings.Join(got, "; "); text != x.want {
			t.Errorf("%s:\ngot  %s\nwant %s", x.what, text, x.want)
		}
	}
}
