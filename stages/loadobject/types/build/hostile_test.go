package build_test

import (
	"bytes"
	debugelf "debug/elf"
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/elf/elftest"
	"stackmill/stages/loadobject/types"
	"stackmill/stages/loadobject/types/build"
)

// typeInfo builds an object with one unit that contains the entries.
func typeInfo(t testing.TB, entries []byte, names ...byte) *elf.File {
	t.Helper()
	abbrev := []byte{
		1, 0x11, 1, 0, 0, // compile unit
		2, 0x16, 0, 0x03, 0x08, 0x49, 0x13, 0, 0, // typedef: name, type
		3, 0x13, 1, 0x03, 0x08, 0x0b, 0x0b, 0, 0, // structure: name, size
		4, 0x0d, 0, 0x03, 0x08, 0x49, 0x13, 0x38, 0x0b, 0, 0, // member: name, type, place
		5, 0x26, 0, 0x49, 0x13, 0, 0, // const: type
		6, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x02, 0x18, 0, 0, // variable: name, type, location
		7, 0x01, 1, 0x49, 0x13, 0, 0, // array: type
		8, 0x21, 0, 0x2f, 0x06, 0, 0, // subrange: upper bound
		9, 0x39, 1, 0x03, 0x08, 0, 0, // namespace: name
		10, 0x13, 0, 0x03, 0x08, 0x3c, 0x19, 0, 0, // declared structure: name
		11, 0x0f, 0, 0x49, 0x13, 0, 0, // pointer: type
		12, 0x16, 0, 0x03, 0x0e, 0x49, 0x14, 0, 0, // typedef: name elsewhere, type of 8 bytes
		0,
	}
	info := binary.LittleEndian.AppendUint32(nil, uint32(len(entries)+8))
	info = append(info, 4, 0, 0, 0, 0, 0, 8, 1)
	e := elftest.File{Sections: []elftest.Section{
		{Name: ".bss", Type: debugelf.SHT_NOBITS, Flags: debugelf.SHF_ALLOC, Address: 0x1000, Size: 0x1000},
		{Name: ".debug_info", Data: append(info, entries...)}, {Name: ".debug_abbrev", Data: abbrev},
		{Name: ".debug_str", Data: names}}}
	f, err := elf.New("hostile", e.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const behindUnit = 12 // offset of the unit's first entry

func ref(to int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(to)) }

// variable returns the entry of a variable at an address.
func variable(name string, typ int, address uint64) []byte {
	b := append([]byte{6}, name...)
	b = append(append(b, 0), ref(typ)...)
	b = append(b, 9, 0x03)
	return binary.LittleEndian.AppendUint64(b, address)
}

// readVariable puts a variable at an address and looks that up.
func readVariable(t *testing.T, address uint64) (types.VariableNo, int64, bool) {
	table, _ := build.Table(typeInfo(t, append([]byte{2, 'T', 0}, append(ref(0), variable("v", behindUnit, address)...)...)), nil)
	return table.Global(address)
}

// deepTypes returns two structures of one name, and variables of them. Their members point to types
// of one name, one of which is a long chain of consts.
func deepTypes() []byte {
	const deep = 300_000
	var pointed, users []byte
	at := func() int { return behindUnit + len(pointed) }
	used := uint64(0x1100)
	use := func() { // the innermost first
		users = append(variable("u", at(), used), users...)
		used++
	}
	for _, links := range []int{0, deep} {
		use()
		pointed = append(append(append(pointed, 3, 'x', 0, 8, 4, 'p', 0), ref(at()+13)...), 0, 0)
		pointed = append(append(pointed, 11), ref(at()+5)...)
		pointed = append(append(pointed, 2, 'T', 0), ref(at()+7)...)
		for i := range links {
			if i%150 == 0 {
				use()
			}
			pointed = append(append(pointed, 5), ref(at()+5)...)
		}
		pointed = append(pointed, 3, 'y', 0, 8, 0)
	}
	return append(pointed, users...)
}

// Reading types that contain themselves, or very many others, ends.
func TestHostileTypes(t *testing.T) {
	typedefs := append([]byte{2, 'T', 0}, ref(behindUnit)...) // a typedef of itself
	structure := append(append([]byte{3, 's', 0, 8, 4, 'm', 0}, ref(behindUnit)...), 0, 0)
	array := append(append([]byte{7}, ref(behindUnit)...), 8, 0xff, 0xff, 0xff, 0x7f, 0)
	var chain []byte // each a const of the next
	const links = 100_000
	for i := range links {
		chain = append(append(chain, 5), ref(behindUnit+5*(i+1))...)
	}
	var nested []byte
	for range 20_000 {
		nested = append(nested, 9, 'n', 0)
	}
	var same []byte // definitions of one name, each with a pointer to its declaration
	for i := range 20_000 {
		at := behindUnit + len(same)
		same = append(same, 3, 'x', 0, byte(i%7), 4, 'p', 0)
		same = append(same, ref(at+13)...)
		same = append(same, 0, 0)
		same = append(same, 11)
		same = append(same, ref(at+18)...)
		same = append(same, 10, 'x', 0)
	}
	var nest []byte // structures with declared members, each defined by the next
	for i := range 200_000 {
		nest = fmt.Appendf(append(nest, 3), "s%06d\x00\x08", i)
		nest = append(append(nest, 4, 'm', 0), ref(behindUnit+len(nest)+9)...)
		nest = append(nest, 0, 0)
		nest = fmt.Appendf(append(nest, 10), "s%06d\x00", i+1)
	}
	beyond := append([]byte{12}, ref(0)...) // a type outside of all files
	beyond = binary.LittleEndian.AppendUint64(beyond, 1<<63+1<<40)
	defer debug.SetMaxStack(debug.SetMaxStack(16 << 20))
	for _, x := range []struct {
		what    string
		entries []byte
		spelled string
	}{
		{"a typedef of itself", typedefs, "T=void v"},
		{"a structure in itself", structure, "structure:s"},
		{"an array of itself", array, "array[2147483648]:void v"},
		{"a long chain", chain, ""},
		{"nested names", nested, ""},
		{"one name over and over", same, "structure:x"},
		{"definitions within each other", nest, "structure:s000000"},
		{"deep types of one name", deepTypes(), "structure:x"},
		{"a reference to no entry", beyond, "=void v"},
		{"a type that is not there", ref(0), ""},
	} {
		start := cpuTime(t)
		entries := append(x.entries, variable("v", behindUnit, 0x1040)...)
		table, _ := build.Table(typeInfo(t, entries), nil)
		if d := cpuTime(t) - start; d > 10*time.Second {
			t.Errorf("%s: took %v", x.what, d)
		}
		v, _, ok := table.Global(0x1040)
		if x.spelled != "" && (!ok || table.Spell(table.Variables[v].Type, table.Variables[v].Name) != x.spelled) {
			t.Errorf("%s: %v, %+v %+v", x.what, ok, table.Variables, table.Notes)
		}
		for typ := range min(len(table.Types), 1000) {
			table.Descend(types.TypeNo(typ), 4, types.Use{Size: 4})
			table.Spell(types.TypeNo(typ), "")
		}
		if _, err := types.Decode(table.Append(nil)); err != nil {
			t.Errorf("%s: %v", x.what, err)
		}
	}
}

// The end of an unterminated name is not searched for again and again.
func TestHostileName(t *testing.T) {
	var entries []byte
	for i := range 20_000 {
		entries = binary.LittleEndian.AppendUint64(append(append(entries, 12), ref(i)...), behindUnit)
	}
	start := cpuTime(t)
	build.Table(typeInfo(t, entries, bytes.Repeat([]byte{'n'}, 32<<20)...), nil)
	if d := cpuTime(t) - start; d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

// Reading very many sections, and very many variables outside of them, ends.
func TestHostileSections(t *testing.T) {
	var entries []byte
	for range 200_000 {
		entries = append(entries, variable("v", 0, 0x10)...)
	}
	f := typeInfo(t, entries)
	for i := range 50_000 {
		f.Sections = append(f.Sections, elf.Section{Flags: debugelf.SHF_ALLOC, Address: 0x10000 + uint64(i)*0x100, Size: 0x10})
	}
	start := cpuTime(t)
	table, _ := build.Table(f, nil)
	if d := cpuTime(t) - start; d > 5*time.Second || len(table.Globals) > 0 {
		t.Errorf("took %v, %d variables", d, len(table.Globals))
	}
}

// Code that the linker removed has no scope.
func TestRemovedVariable(t *testing.T) {
	for address, want := range map[uint64]bool{0x1000: true, 0x1fff: true, 0: false, 0x10: false, 0x2000: false, ^uint64(0): false} {
		if _, _, ok := readVariable(t, address); ok != want {
			t.Errorf("at %#x: %v", address, ok)
		}
	}
}

// cpuTime returns the process's CPU time, which hardly depends on how busy the machine is.
func cpuTime(t *testing.T) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
