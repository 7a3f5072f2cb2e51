package build

import (
	debugdwarf "debug/dwarf"
	"encoding/binary"
	"testing"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/types"
)

// Base types have the names in the source, however the compiler spells them.
func TestBaseName(t *testing.T) {
	for name, want := range map[string]string{
		"int": "int", "char": "char", "signed char": "signed char", "unsigned char": "unsigned char",
		"short int": "short", "short": "short", "short unsigned int": "unsigned short", "unsigned short": "unsigned short",
		"long int": "long", "long": "long", "long unsigned int": "unsigned long", "unsigned long": "unsigned long",
		"long long int": "long long", "long long unsigned int": "unsigned long long", "unsigned long long": "unsigned long long",
		"unsigned int": "unsigned int", "unsigned": "unsigned", "signed int": "int",
		"__int128 unsigned": "unsigned __int128", "__int128": "__int128", "_Bool": "_Bool", "bool": "bool",
		"long double": "long double", "complex double": "complex double", "integer(kind=4)": "integer(kind=4)", "": "",
	} {
		if got := baseName(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// Bit fields begin where the processor has them, in both DWARF encodings.
func TestBitField(t *testing.T) {
	for _, x := range []struct {
		what  string
		order binary.ByteOrder
		raw   rawMember
		want  types.Member
	}{
		{"from the begin", binary.LittleEndian, rawMember{bits: 7, dataBit: 35, bitOffset: absent, size: -1}, types.Member{Offset: 4, Bit: 3, Bits: 7}},
		{"from the begin, big-endian", binary.BigEndian, rawMember{bits: 7, dataBit: 35, bitOffset: absent, size: -1}, types.Member{Offset: 4, Bit: 3, Bits: 7}},
		{"the first of storage", binary.LittleEndian, rawMember{offset: 8, bits: 3, dataBit: -1, bitOffset: 29, size: 4}, types.Member{Offset: 8, Bit: 0, Bits: 3}},
		{"the second byte of storage", binary.LittleEndian, rawMember{offset: 8, bits: 7, dataBit: -1, bitOffset: 15, size: 4}, types.Member{Offset: 9, Bit: 2, Bits: 7}},
		{"the first of storage, big-endian", binary.BigEndian, rawMember{offset: 8, bits: 3, dataBit: -1, bitOffset: 0, size: 4}, types.Member{Offset: 8, Bit: 0, Bits: 3}},
		{"the second byte of storage, big-endian", binary.BigEndian, rawMember{offset: 8, bits: 7, dataBit: -1, bitOffset: 10, size: 4}, types.Member{Offset: 9, Bit: 2, Bits: 7}},
		{"behind the end of storage", binary.LittleEndian, rawMember{offset: 4, bits: 13, dataBit: -1, bitOffset: -2, size: 4}, types.Member{Offset: 6, Bit: 5, Bits: 13}},
		{"storage as its type", binary.LittleEndian, rawMember{bits: 3, dataBit: -1, bitOffset: 10, size: -1}, types.Member{Offset: 0, Bit: 3, Bits: 3}},
		{"all of the storage", binary.LittleEndian, rawMember{offset: 4, bits: 8, dataBit: -1, bitOffset: absent, size: 1}, types.Member{Offset: 4, Bit: 0, Bits: 8}},
		{"before its aggregate", binary.LittleEndian, rawMember{bits: 8, dataBit: -1, bitOffset: 500, size: 4}, types.Member{Bits: 8}},
	} {
		g := &typeGraph{reader: &reader{Info: dwarf.New(&elf.File{Order: x.order}, nil)},
			table: &types.Table{Types: []types.Type{{Size: 2}}}}
		var got types.Member
		g.bitField(&got, &x.raw)
		if got != x.want {
			t.Errorf("%s: got %+v, want %+v", x.what, got, x.want)
		}
	}
}

// A member's offset is a number, or in DWARF 2 an expression.
func TestMemberOffset(t *testing.T) {
	for _, x := range []struct {
		what string
		at   dwarf.Value
		want int64
		ok   bool
	}{
		{"not told, as in unions", dwarf.Value{}, 0, true},
		{"a number", dwarf.Value{Form: dwarf.FormData2, Uint: 300}, 300, true},
		{"a number of the abbreviation", dwarf.Value{Form: dwarf.FormImplicitConst, Uint: 24}, 24, true},
		{"a sum", dwarf.Value{Form: dwarf.FormBlock1, Bytes: []byte{0x23, 0x88, 0x01}}, 136, true},
		{"a constant and a sum", dwarf.Value{Form: dwarf.FormExprloc, Bytes: []byte{0x10, 0x18, 0x22}}, 24, true},
		{"of the object, as virtual bases", dwarf.Value{Form: dwarf.FormExprloc, Bytes: []byte{0x12, 0x06, 0x48, 0x1c, 0x06, 0x22}}, 0, false},
		{"split a sum", dwarf.Value{Form: dwarf.FormBlock1, Bytes: []byte{0x23, 0x88}}, 0, false},
		{"too large", dwarf.Value{Form: dwarf.FormData8, Uint: 1 << 60}, 0, false},
	} {
		e := entry{Attrs: dwarf.Attrs{{Name: debugdwarf.AttrDataMemberLoc, Value: x.at}}}
		if got, ok := e.memberOffset(); ok != x.ok || ok && got != x.want {
			t.Errorf("%s: got %d, %v", x.what, got, ok)
		}
	}
}

// A dimension's number of elements follows from its bounds or count.
func TestExtent(t *testing.T) {
	for _, x := range []struct {
		what                string
		lower, upper, count dwarf.Value
		first, want         int64
	}{
		{"nothing", dwarf.Value{}, dwarf.Value{}, dwarf.Value{}, 0, -1},
		{"an upper bound of C", dwarf.Value{}, dwarf.Value{Form: dwarf.FormData1, Uint: 255}, dwarf.Value{}, 0, 256},
		{"an upper bound of Fortran", dwarf.Value{}, dwarf.Value{Form: dwarf.FormData1, Uint: 5}, dwarf.Value{}, 1, 5},
		{"both bounds", dwarf.Value{Form: dwarf.FormSdata, Uint: ^uint64(1)}, dwarf.Value{Form: dwarf.FormSdata, Uint: 5}, dwarf.Value{}, 1, 8},
		{"a count", dwarf.Value{}, dwarf.Value{}, dwarf.Value{Form: dwarf.FormUdata, Uint: 7}, 0, 7},
		{"an empty array", dwarf.Value{}, dwarf.Value{Form: dwarf.FormData8, Uint: ^uint64(0)}, dwarf.Value{}, 0, 0},
		{"a variable's value", dwarf.Value{}, dwarf.Value{Form: dwarf.FormRef4, Uint: 7}, dwarf.Value{}, 0, -1},
		{"an expression", dwarf.Value{}, dwarf.Value{Form: dwarf.FormExprloc}, dwarf.Value{}, 0, -1},
		{"a count that is computed", dwarf.Value{}, dwarf.Value{}, dwarf.Value{Form: dwarf.FormExprloc}, 0, -1},
		{"a bound that is not one", dwarf.Value{}, dwarf.Value{Form: dwarf.FormData8, Uint: 1 << 62}, dwarf.Value{}, 0, -1},
	} {
		e := entry{Attrs: dwarf.Attrs{{Name: debugdwarf.AttrLowerBound, Value: x.lower}, {Name: debugdwarf.AttrUpperBound, Value: x.upper}, {Name: debugdwarf.AttrCount, Value: x.count}}}
		if got := e.extent(x.first); got != x.want {
			t.Errorf("%s: got %d, want %d", x.what, got, x.want)
		}
	}
}
