package symtab_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/loadobject/elf/elftest"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

// The same linkage tables are found without section headers as with them, except for single entries
// that are filled beforehand.
func TestTablesWithoutSections(t *testing.T) {
	tables := 0
	for _, name := range recorded {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		whole := symtab.Read(parse(t, b), nil).Finish()
		copy(b[40:], make([]byte, 8)) // position of the section headers
		bare := symtab.Read(parse(t, b), nil).Finish()
		if d := cmp.Diff(whole.Slots, bare.Slots); d != "" || len(whole.Slots) == 0 {
			t.Errorf("%s: slots: %s", name, d)
		}
		for _, r := range whole.Regions {
			if r.Name == ".plt" && r.Size == 16 {
				continue // a head without entries, which nothing calls
			}
			for off := r.Offset; off < r.Offset+r.Size; off++ {
				f, _ := whole.Function(off)
				g, _ := bare.Function(off)
				if r.Name != ".plt.got" && (f.Kind == funcinfo.PLT) != (g.Kind == funcinfo.PLT) {
					t.Fatalf("%s: %#x of %s is of kind %s, without sections %s", name, off, r.Name, f.Kind, g.Kind)
				}
			}
			if r.Name == ".plt" || r.Name == ".plt.sec" {
				tables++
			}
		}
	}
	if tables < len(recorded)/2 {
		t.Errorf("only %d tables", tables)
	}
}

// Relocations have no addends on 32-bit x86. Those of data, of symbols that do not exist, and those
// beyond the end of the file are omitted.
func TestSlots(t *testing.T) {
	f := elftest.File{Class: elf.ELFCLASS32, Machine: elf.EM_386}
	syms := f.Symtab(".dynsym", ".dynstr", elf.SHT_DYNSYM, []elftest.Symbol{
		{Name: "lazy", Type: elf.STT_FUNC}, {Name: "eager"}, {Name: "data", Type: elf.STT_OBJECT},
	})
	syms[0].Offset, syms[1].Offset = 0x400, 0x500
	var rel bytes.Buffer
	for _, r := range [][2]uint32{{0x3008, 2<<8 | uint32(elf.R_386_GLOB_DAT)}, {0x3010, 3<<8 | uint32(elf.R_386_GLOB_DAT)},
		{0x3014, 99<<8 | uint32(elf.R_386_GLOB_DAT)}, {0x3018, 2<<8 | uint32(elf.R_386_RELATIVE)}, {0x3000, 1<<8 | uint32(elf.R_386_JMP_SLOT)}} {
		binary.Write(&rel, binary.LittleEndian, r)
	}
	f.Sections = append(syms, elftest.Section{Name: ".rel.dyn", Type: elf.SHT_REL, Offset: 0x600, Data: rel.Bytes()},
		elftest.Section{Name: ".dynamic", Type: elf.SHT_DYNAMIC, Offset: 0x700, Data: f.Dynamic(
			uint64(elf.DT_SYMTAB), 0x400, uint64(elf.DT_STRTAB), 0x500, uint64(elf.DT_STRSZ), uint64(len(syms[1].Data)),
			uint64(elf.DT_JMPREL), 0x620, uint64(elf.DT_PLTRELSZ), 0xffffffff, uint64(elf.DT_PLTREL), uint64(elf.DT_REL),
			uint64(elf.DT_REL), 0x600, uint64(elf.DT_RELSZ), 0x20)})
	f.Loads = []elftest.Load{{Flags: elf.PF_R, FileSize: 0x1000, MemSize: 0x1000},
		{Type: elf.PT_DYNAMIC, Offset: 0x700, Address: 0x700, FileSize: 0x100, MemSize: 0x100}}
	got := symtab.Read(parse(t, f.Bytes()), nil).Slots
	want := []symtab.Slot{{Address: 0x3000, Symbol: "lazy", Lazy: true}, {Address: 0x3008, Symbol: "eager"}}
	for i := range got { // bytes after the table may look like relocations
		if got[i].Address > 0x3018 {
			got = got[:i]
			break
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
