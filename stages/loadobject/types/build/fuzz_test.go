package build_test

import (
	"bytes"
	debugelf "debug/elf"
	"encoding/binary"
	"path/filepath"
	"testing"

	"stackmill/stages/loadobject/dwarf/dwarftest"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/elf/elftest"
	"stackmill/stages/loadobject/types"
	"stackmill/stages/loadobject/types/build"
)

// dataParts are the sections that types and variables are read from.
var dataParts = []string{"info", "abbrev", "str", "line_str", "types", "addr", "loc", "loclists", "ranges", "rnglists"}

// No debug information makes reading fail, hang or return an invalid table.
func FuzzData(f *testing.F) {
	for _, name := range dataObjects {
		o := dwarftest.Open(f, filepath.Join("testdata", name))
		var b [10][]byte
		for i, part := range dataParts {
			b[i], _ = o.Debug(part)
		}
		f.Add(b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], false)
	}
	f.Fuzz(func(t *testing.T, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9 []byte, big bool) {
		e := elftest.File{}
		if big {
			e.Order = binary.BigEndian
		}
		e.Loads = []elftest.Load{{Flags: debugelf.PF_R | debugelf.PF_W | debugelf.PF_X, FileSize: 0x5000, MemSize: 0x5000}}
		e.Sections = []elftest.Section{{Name: ".data", Type: debugelf.SHT_NOBITS, Flags: debugelf.SHF_ALLOC, Address: 0x1000, Size: 0x4000}}
		for i, b := range [][]byte{b0, b1, b2, b3, b4, b5, b6, b7, b8, b9} {
			e.Sections = append(e.Sections, elftest.Section{Name: ".debug_" + dataParts[i], Data: b})
		}
		o, err := elf.New("fuzz", e.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		table, _ := build.Table(o, nil)
		encoded := table.Append(nil)
		again, err := types.Decode(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.Append(nil), encoded) {
			t.Fatal("the encoding does not tell the same")
		}
		for typ := range min(len(table.Types), 100) {
			table.Descend(types.TypeNo(typ), 8, types.Use{Size: 8})
			table.Spell(types.TypeNo(typ), "x")
		}
		for a := uint64(0); a < 0x5000; a += 0x123 {
			table.Global(a)
			table.ScopesAt(a)
		}
	})
}
