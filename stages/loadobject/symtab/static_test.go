package symtab_test

import (
	"debug/elf"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/loadobject/elf/elftest"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

// layout lists the functions that cover an object's text.
func layout(t *testing.T, b []byte) (list []string) {
	t.Helper()
	walk(t, symtab.Read(parse(t, b), nil).Finish(), func(f symtab.Function) {
		list = append(list, fmt.Sprintf("%s %#x %#x", f.Name, f.Offset, f.Size))
	})
	return list
}

// In text without symbols, each gap of each section is one function, without the linkage tables
// (S6).
func TestStrippedSections(t *testing.T) {
	sections := []elftest.Section{
		elftest.Text(".init", 0x1000, 0x400, 0x10), elftest.Text(".plt", 0x1010, 0x410, 0x20),
		elftest.Text(".plt.got", 0x1030, 0x430, 0x8), elftest.Text(".plt.sec", 0x1040, 0x440, 0x10),
		elftest.Text(".text", 0x1050, 0x450, 0x60), elftest.Text(".fini", 0x10b0, 0x4b0, 0x8),
	}
	const text = 5
	exported := []elftest.Symbol{
		{Name: "first", Type: elf.STT_FUNC, Section: text, Value: 0x1060, Size: 8},
		{Name: "second", Type: elf.STT_FUNC, Section: text, Value: 0x1080, Size: 0x30},
		{Name: "imported", Type: elf.STT_FUNC, Value: 0x1050, Size: 0x60},
	}
	around := func(text ...string) []string {
		list := append([]string{"<static>@0x400 0x400 0x10", "@plt 0x410 0x20", "@plt 0x430 0x8", "@plt 0x440 0x10"}, text...)
		return append(list, "<static>@0x4b0 0x4b0 0x8")
	}
	for _, c := range []struct {
		name    string
		symbols []elftest.Symbol
		want    []string
	}{
		{"dynamic symbols", exported, around("<static>@0x450 0x450 0x10", "first 0x460 0x8", "<static>@0x468 0x468 0x18", "second 0x480 0x30")},
		{"none at all", nil, around("<static>@0x450 0x450 0x60")},
	} {
		var f elftest.File
		f.Sections = append(f.Sections, sections...)
		if c.symbols != nil {
			f.Sections = append(f.Sections, f.Symtab(".dynsym", ".dynstr", elf.SHT_DYNSYM, c.symbols)...)
		}
		if d := cmp.Diff(c.want, layout(t, f.Bytes())); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// Without section headers the linkage tables are recognized by their code.
func TestStrippedSegments(t *testing.T) {
	for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64} {
		tables := map[uint64]bool{}
		walk(t, symtab.Read(parse(t, elftest.Importing(machine, true)), nil).Finish(), func(f symtab.Function) {
			for off := f.Offset; off < f.Offset+f.Size && f.Kind == funcinfo.PLT; off++ {
				tables[off] = true
			}
		})
		seen, static := map[string]bool{}, 0
		walk(t, symtab.Read(parse(t, elftest.Importing(machine, false)), nil).Finish(), func(f symtab.Function) {
			if f.Kind != funcinfo.Static {
				return
			}
			if static++; seen[f.Name] {
				t.Errorf("%v: two functions %s", machine, f.Name)
			}
			seen[f.Name] = true
			if tables[f.Offset] {
				t.Errorf("%v: %s of %#x bytes begins in a linkage table", machine, f.Name, f.Size)
			}
		})
		if len(tables) == 0 || static == 0 {
			t.Errorf("%v: %d bytes of linkage tables, %d static functions", machine, len(tables), static)
		}
	}
}
