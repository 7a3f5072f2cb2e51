package symtab_test

import (
	debugelf "debug/elf"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/loadobject/elf/elftest"
	"stackmill/stages/loadobject/symtab"
)

func TestVariables(t *testing.T) {
	data := func(name string, value, size uint64) elftest.Symbol {
		return elftest.Symbol{Name: name, Type: debugelf.STT_OBJECT, Section: 1, Value: value, Size: size}
	}
	for _, f := range []elftest.File{
		{},
		{Class: debugelf.ELFCLASS32, Order: binary.BigEndian, Machine: debugelf.EM_SPARC},
	} {
		f.Sections = append([]elftest.Section{elftest.Text(".text", 0x1000, 0x400, 0x40)},
			f.Symtab(".symtab", ".strtab", debugelf.SHT_SYMTAB, []elftest.Symbol{
				data("late", 0x2010, 8), data("b", 0x2000, 4), data("a", 0x2000, 4), data("whole", 0x2000, 12), data("empty", 0x2020, 0),
				{Name: "undefined", Type: debugelf.STT_OBJECT, Value: 0x2020, Size: 8},
				{Name: "code", Type: debugelf.STT_FUNC, Section: 1, Value: 0x1000, Size: 8},
			})...)
		v := symtab.ReadVariables(parse(t, f.Bytes()))
		want := []symtab.Variable{{0x2000, 12, "whole"}, {0x2000, 4, "a"}, {0x2000, 4, "b"}, {0x2010, 8, "late"}}
		if d := cmp.Diff(want, v.List); d != "" || v.Damage != nil {
			t.Error(d, v.Damage)
		}
		for at, name := range map[uint64]string{0x1fff: "", 0x2000: "whole", 0x200b: "whole", 0x200c: "", 0x2010: "late", 0x2018: ""} {
			got := ""
			if i, ok := v.At(at); ok {
				got = v.List[i].Name
			}
			if got != name {
				t.Errorf("at %#x is %q, want %q", at, got, name)
			}
		}
	}
}

// A table that lies beyond the end of the file is reported, and the others' variables are returned.
func TestDamagedVariables(t *testing.T) {
	f := elftest.File{}
	f.Sections = append(f.Symtab(".symtab", ".strtab", debugelf.SHT_SYMTAB, []elftest.Symbol{
		{Name: "kept", Type: debugelf.STT_OBJECT, Section: 1, Value: 0x2000, Size: 8},
	}), elftest.Section{Name: ".dynsym", Type: debugelf.SHT_DYNSYM, Size: 1 << 40, Link: ".strtab"})
	v := symtab.ReadVariables(parse(t, f.Bytes()))
	if v.Damage == nil || len(v.List) != 1 || v.List[0].Name != "kept" {
		t.Errorf("%v, %v", v.List, v.Damage)
	}
}
