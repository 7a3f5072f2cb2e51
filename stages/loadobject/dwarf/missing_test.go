package dwarf

import (
	debugelf "debug/elf"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/elf/elftest"
)

// Files that many units lack are named before files that one unit lacks, however many files there
// are.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	var info []byte
	for i := range 20 {
		name := fmt.Sprintf("%s/%02d.dwo\x00", dir, i)
		info = binary.LittleEndian.AppendUint32(info, uint32(7+1+len(name)+24))
		info = append(info, 4, 0, 0, 0, 0, 0, 8, 1)
		info = append(info, name...)
		for _, v := range []uint64{uint64(i), 0x1000 + uint64(i), 1} {
			info = binary.LittleEndian.AppendUint64(info, v)
		}
	}
	e := elftest.File{Sections: []elftest.Section{
		{Name: ".text", Type: debugelf.SHT_NOBITS, Flags: debugelf.SHF_ALLOC, Address: 0x1000, Size: 0x1000},
		{Name: ".debug_info", Data: info},
		{Name: ".debug_abbrev", Data: []byte{1, 0x11, 0, 0xb0, 0x42, 0x08, 0xb1, 0x42, 0x07, 0x11, 1, 0x12, 7, 0, 0, 0}}, // the split unit's file and id, code
		{Name: ".gnu_debugaltlink", Data: []byte("common.debug\x00id")}}}
	path := filepath.Join(dir, "program")
	f, err := elf.New(path, e.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	d := New(f, nil)
	d.Open()
	d.Sections.Units(func(u *Unit) { d.SplitUnit(u, func(*Sections, *Unit) {}) }, func(uint64, error) {})
	if missing := d.Missing(); len(missing) != 22 || missing[0] != filepath.Join(dir, "common.debug") || missing[1] != path+".dwp" {
		t.Errorf("%q", missing)
	}
}
