package symtab

import (
	debugelf "debug/elf"
	"fmt"
	"strings"
	"testing"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/elf/elftest"
)

// Whether an untyped symbol is a function depends on its name and the symbols around it.
func TestSettle(t *testing.T) {
	const start = 0x1000
	typed := func(name string, at, size uint64) elftest.Symbol {
		return elftest.Symbol{Name: name, Type: debugelf.STT_FUNC, Section: 1, Value: start + at, Size: size}
	}
	untyped := func(name string, at, size uint64) elftest.Symbol {
		s := typed(name, at, size)
		s.Type = debugelf.STT_NOTYPE
		return s
	}
	const global = debugelf.SymType(debugelf.STB_GLOBAL << 4)
	for _, c := range []struct {
		name    string
		code    string // the rest is `ret`
		symbols []elftest.Symbol
		want    string
	}{
		{"covered", "", []elftest.Symbol{typed("f", 0, 16), untyped("in", 8, 0), untyped("g", 16, 0)}, "f 16, g 48"},
		{"at the place of another", "", []elftest.Symbol{typed("f", 0, 0), untyped("z", 0, 0)}, "f 64"},
		{"covered by one with a size", "", []elftest.Symbol{untyped("f", 0, 16), untyped("in", 8, 0)}, "f 16"},
		{"behind one without a size", "", []elftest.Symbol{typed("frame_dummy", 0, 0), untyped("g", 4, 0)}, "frame_dummy 4, g 60"},
		{"markers", "", []elftest.Symbol{untyped("$x", 0, 0), untyped("$d.3", 4, 0), untyped("$xrv64i2p1", 5, 0), untyped(".L4", 8, 0), untyped("..@7.again", 9, 0),
			untyped("L1\x01", 10, 0), untyped(".annobin_f.c", 12, 0), untyped("gcc2_compiled.", 13, 0), untyped("$dollar", 16, 0), untyped("L1", 20, 0)}, "$dollar 4, L1 44"},
		{"nasm's", "", []elftest.Symbol{untyped("f", 0, 0), untyped("f.loop", 4, 0), untyped("f2.x", 8, 0)}, "f 8, f2.x 56"},
		{"named after one that has ended", "", []elftest.Symbol{typed("f", 0, 4), untyped("f.entry", 8, 0)}, "f 4, f.entry 56"},
		{"the end of the section", "", []elftest.Symbol{untyped("f", 0, 0), untyped("etext", 64, 0), typed("end", 64, 0)}, "f 64"},
		{"fallen into", "\x90\x48\xff\xc8", []elftest.Symbol{untyped("f", 0, 0), untyped("again", 4, 0)}, "f 64"},
		{"fallen into, but exported", "\x90\x48\xff\xc8", []elftest.Symbol{untyped("f", 0, 0), {Name: "g", Type: global, Section: 1, Value: start + 4}}, "f 4, g 60"},
		{"jumped to if", "\x74\x02\xc3\x90", []elftest.Symbol{untyped("f", 0, 0), untyped("there", 4, 0)}, "f 64"},
		{"a tail call", "\xeb\x02\xc3\x90", []elftest.Symbol{untyped("f", 0, 0), untyped("g", 4, 0)}, "f 4, g 60"},
		{"behind a call that may not return", "\xe8\x10\x00\x00\x00", []elftest.Symbol{untyped("f", 0, 0), untyped("g", 5, 0)}, "f 5, g 59"},
		{"of data", "", []elftest.Symbol{untyped("f", 0, 0), {Name: "d", Type: debugelf.STT_NOTYPE, Section: 2, Value: 0x3000}}, "f 64"},
	} {
		text := elftest.Text(".text", start, 0x400, 64)
		for i := range text.Data {
			text.Data[i] = 0xc3
		}
		copy(text.Data, c.code)
		e := elftest.File{Sections: []elftest.Section{text, {Name: ".data", Flags: debugelf.SHF_ALLOC | debugelf.SHF_WRITE, Address: 0x3000, Data: make([]byte, 8)},
			elftest.Text(".fini", start+64, 0x440, 8)}}
		e.Sections = append(e.Sections, e.Symtab(".symtab", ".strtab", debugelf.SHT_SYMTAB, c.symbols)...)
		f, err := elf.New(c.name, e.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for g := range Read(f, nil).Finish().Functions.All() {
			got = append(got, fmt.Sprintf("%s %d", g.Aliases, g.Size))
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}
