package symtab_test

import (
	"bytes"
	debugelf "debug/elf"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ulikunitz/xz"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/elf/elftest"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// recorded are load objects of real recordings.
var recorded = []string{"alias", "clones", "cxx", "entry", "libstripped.so", "omp_clang", "outline", "plt_sec", "recur_dw5"}

func read(t testing.TB, path string) *symtab.Table {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return symtab.Read(f, nil).Finish()
}

func parse(t testing.TB, b []byte) *elf.File {
	t.Helper()
	f, err := elf.New("test", b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// walk calls f for each function that a lookup can return, in order.
func walk(t testing.TB, table *symtab.Table, f func(symtab.Function)) {
	t.Helper()
	for _, r := range table.Regions {
		for off := r.Offset; off < r.Offset+r.Size; {
			fn, ok := table.Function(off)
			if !ok || fn.Size == 0 || fn.Offset != off {
				t.Fatalf("no function that starts at %#x: %+v", off, fn)
			}
			f(fn)
			off += fn.Size
		}
	}
}

func TestRecorded(t *testing.T) {
	for _, name := range recorded {
		t.Run(name, func(t *testing.T) {
			table := read(t, filepath.Join("testdata", name))
			var b bytes.Buffer
			fmt.Fprintf(&b, "build-id %s\n", table.BuildID)
			walk(t, table, func(f symtab.Function) {
				fmt.Fprintf(&b, "%06x %5x %-8s%s", f.Offset, f.Size, f.Kind, f.Name)
				if f.Linkage != f.Name || f.Aliases != f.Linkage {
					fmt.Fprintf(&b, " | %s | %s", f.Linkage, strings.Join(symtab.Split(f.Aliases), " "))
				}
				b.WriteByte('\n')
			})
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), b.String()); d != "" {
				t.Error(d)
			}
			if table.Notes != nil {
				t.Error(table.Notes)
			}
		})
	}
}

// As in the source, there are two exported functions, with static ones before and between them.
func TestStrippedRegions(t *testing.T) {
	table := read(t, "testdata/libstripped.so")
	for _, c := range []struct {
		offset     uint64
		name       string
		start, end uint64
	}{
		{0x10f9, "<static>@0x1040", 0x1040, 0x1177},
		{0x1176, "<static>@0x1040", 0x1040, 0x1177},
		{0x1177, "pub_first", 0x1177, 0x11c3},
		{0x11c3, "<static>@0x11c3", 0x11c3, 0x1202},
		{0x1202, "pub_second", 0x1202, 0x1215},
		{0x1030, "@plt", 0x1030, 0x1038},
	} {
		f, ok := table.Function(c.offset)
		if !ok || f.Name != c.name || f.Offset != c.start || f.Offset+f.Size != c.end {
			t.Errorf("%#x: got %+v %v, want %s from %#x to %#x", c.offset, f, ok, c.name, c.start, c.end)
		}
	}
	for _, off := range []uint64{0, 0xfff, 0x1017, 0x1038, 0x2000, ^uint64(0)} {
		if f, ok := table.Function(off); ok {
			t.Errorf("%#x lies outside the text, but got %+v", off, f)
		}
	}
}

// symbols are three functions, one of them indirect, and symbols of other kinds.
func symbols(text uint16) []elftest.Symbol {
	return []elftest.Symbol{
		{Name: "one", Type: debugelf.STT_FUNC, Section: text, Value: 0x1000, Size: 16},
		{Name: "picked", Type: debugelf.STT_GNU_IFUNC, Section: text, Value: 0x1010, Size: 8},
		{Name: "two", Type: debugelf.STT_FUNC, Section: text, Value: 0x1020, Size: 8},
		{Name: "label", Type: debugelf.STT_NOTYPE, Section: text, Value: 0x1004},
		{Name: "data", Type: debugelf.STT_OBJECT, Section: text, Value: 0x1008, Size: 4},
		{Name: "absent", Type: debugelf.STT_FUNC, Value: 0x1030, Size: 4},
		{Name: "absolute", Type: debugelf.STT_FUNC, Section: uint16(debugelf.SHN_ABS), Value: 0x1030, Size: 4},
		{Name: "elsewhere", Type: debugelf.STT_FUNC, Section: text, Value: 0x9000, Size: 4},
	}
}

func names(table *symtab.Table) string {
	var list []string
	for f := range table.Functions.All() {
		list = append(list, f.Name)
	}
	return strings.Join(list, " ")
}

func TestClassesAndOrders(t *testing.T) {
	for _, f := range []elftest.File{
		{},
		{Class: debugelf.ELFCLASS32, Machine: debugelf.EM_386},
		{Class: debugelf.ELFCLASS32, Order: binary.BigEndian, Machine: debugelf.EM_SPARC},
		{Class: debugelf.ELFCLASS64, Order: binary.BigEndian, Machine: debugelf.EM_SPARCV9},
	} {
		f.Sections = append([]elftest.Section{elftest.Text(".text", 0x1000, 0x400, 0x40)},
			f.Symtab(".symtab", ".strtab", debugelf.SHT_SYMTAB, symbols(1))...)
		f.Loads = []elftest.Load{{Flags: debugelf.PF_R | debugelf.PF_X, Offset: 0x400, Address: 0x1000, FileSize: 0x40, MemSize: 0x50}}
		table := symtab.Read(parse(t, f.Bytes()), nil).Finish()
		if got := names(table); got != "one picked two" {
			t.Errorf("%v %v: functions %s", f.Class, f.Machine, got)
		}
		if d := cmp.Diff([]symtab.Segment{{Offset: 0x400, Address: 0x1000, FileSize: 0x40, MemSize: 0x50, Flags: 5}}, table.Segments); d != "" {
			t.Error(d)
		}
		want := symtab.Function{Offset: 0x418, Address: 0x1018, Size: 8, Name: "<static>@0x418", Kind: funcinfo.Static, Scope: funcinfo.BuildScope}
		if got, ok := table.Function(0x419); !ok || got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// Symbols are taken from the best source; the cases go from the poorest to the best.
func TestSymbolSources(t *testing.T) {
	var f elftest.File
	text := elftest.Text(".text", 0x1000, 0x400, 0x40)
	table := func(section string, kind debugelf.SectionType, names ...string) []elftest.Section {
		var list []elftest.Symbol
		for i, n := range names {
			list = append(list, elftest.Symbol{Name: n, Type: debugelf.STT_FUNC, Section: 1, Value: 0x1000 + 16*uint64(i), Size: 16})
		}
		return f.Symtab(section, section+"str", kind, list)
	}
	build := func(parts ...[]elftest.Section) []byte {
		g := f
		g.Sections = []elftest.Section{text}
		for _, p := range parts {
			g.Sections = append(g.Sections, p...)
		}
		return g.Bytes()
	}
	var packed bytes.Buffer
	w, err := xz.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(build(table(".symtab", debugelf.SHT_SYMTAB, "dyn", "mini")))
	w.Close()
	dynsym := table(".dynsym", debugelf.SHT_DYNSYM, "dyn")
	mini := []elftest.Section{{Name: ".gnu_debugdata", Data: packed.Bytes()}}
	broken := []elftest.Section{{Name: ".gnu_debugdata", Data: packed.Bytes()[:packed.Len()/2]}}
	symtabs := table(".symtab", debugelf.SHT_SYMTAB, "dyn", "mini", "full")
	debug := parse(t, build(table(".symtab", debugelf.SHT_SYMTAB, "dyn", "mini", "full", "debug")))

	for _, c := range []struct {
		name   string
		object []byte
		debug  *elf.File
		want   string
		notes  int
	}{
		{"dynamic", build(dynsym), nil, "dyn", 0},
		{"local dynamic", build(table(".SUNW_ldynsym", 0x6ffffff3, "dyn", "local"), dynsym), nil, "dyn local", 0},
		{"embedded", build(dynsym, mini), nil, "dyn mini", 0},
		{"damaged embedded", build(dynsym, broken), nil, "dyn", 1},
		{"own", build(dynsym, mini, symtabs), nil, "dyn mini full", 0},
		{"separate", build(dynsym, mini, symtabs), debug, "dyn mini full debug", 0},
		{"separate without symbols", build(dynsym), parse(t, build()), "dyn", 0},
	} {
		got := symtab.Read(parse(t, c.object), c.debug).Finish()
		if names(got) != c.want || len(got.Notes) != c.notes {
			t.Errorf("%s: functions %s, notes %v; want %s and %d notes", c.name, names(got), got.Notes, c.want, c.notes)
		}
	}
}

// In a relocatable object, whose sections have no addresses, functions are found by section.
func TestRelocatable(t *testing.T) {
	f := elftest.File{Type: debugelf.ET_REL}
	f.Sections = append([]elftest.Section{
		elftest.Text(".text", 0, 0x400, 0x40), elftest.Text(".init.text", 0, 0x440, 0x20),
	}, f.Symtab(".symtab", ".strtab", debugelf.SHT_SYMTAB, []elftest.Symbol{
		{Name: "a", Type: debugelf.STT_FUNC, Section: 1, Value: 0x10, Size: 8},
		{Name: "b", Type: debugelf.STT_FUNC, Section: 2, Value: 0x10, Size: 8},
	})...)
	table := symtab.Read(parse(t, f.Bytes()), nil).Finish()
	if got, _ := table.Function(0x450); got.Name != "b" {
		t.Errorf("got %+v", got)
	}
	if got, _ := table.Function(0x410); got.Name != "a" {
		t.Errorf("got %+v", got)
	}
}

// A file cut after its program headers still has its segments.
func TestWithoutSections(t *testing.T) {
	f := elftest.File{Loads: []elftest.Load{{Flags: debugelf.PF_R | debugelf.PF_X, Offset: 0x400, Address: 0x1000, FileSize: 0x40, MemSize: 0x40}}}
	f.Sections = append([]elftest.Section{elftest.Text(".text", 0x1000, 0x400, 0x40)},
		f.Symtab(".symtab", ".strtab", debugelf.SHT_SYMTAB, symbols(1))...)
	b := f.Bytes()
	table := symtab.Read(parse(t, b[:0x440]), nil).Finish()
	if len(table.Notes) != 1 {
		t.Errorf("notes %v", table.Notes)
	}
	if got, ok := table.Function(0x420); !ok || got.Name != "<static>@0x400" || got.Size != 0x40 {
		t.Errorf("got %+v %v", got, ok)
	}
}

// If a real object lacks its end, the dynamic segment still names functions.
func TestCutObject(t *testing.T) {
	b, err := os.ReadFile("testdata/libstripped.so")
	if err != nil {
		t.Fatal(err)
	}
	whole := parse(t, b)
	end := whole.Section(".data").Offset
	table := symtab.Read(parse(t, b[:end]), nil).Finish()
	if got := names(table); got != "pub_first pub_second" {
		t.Errorf("functions %s", got)
	}
	headers := binary.LittleEndian.Uint64(b[40:])
	var damage []symtab.Note
	for _, n := range table.Notes {
		if n.Damage && n.Offset == int64(headers) && strings.Contains(n.Text, "section headers") {
			damage = append(damage, n)
		}
	}
	if len(damage) != 1 {
		t.Errorf("notes %+v, want damage at %d", table.Notes, headers)
	}
	// Nothing before the dynamic segment names a function.
	table = symtab.Read(parse(t, b[:whole.Section(".dynamic").Offset]), nil).Finish()
	if got := names(table); got != "" {
		t.Errorf("functions %s", got)
	}
	if f, ok := table.Function(0x1180); !ok || f.Kind != funcinfo.Static {
		t.Errorf("got %+v %v", f, ok)
	}
}

// Files whose section headers were stripped are not reported as damaged.
func TestDynamicSegment(t *testing.T) {
	const text, dynamic, hash, syms, strings = 0x400, 0x500, 0x600, 0x700, 0x800
	for _, f := range []elftest.File{
		{},
		{Class: debugelf.ELFCLASS32, Machine: debugelf.EM_386},
		{Class: debugelf.ELFCLASS64, Order: binary.BigEndian, Machine: debugelf.EM_SPARCV9},
	} {
		for _, c := range []struct {
			name string
			tag  debugelf.DynTag
			hash []uint32
			want string
		}{
			{"hash", debugelf.DT_HASH, []uint32{1, 4}, "one picked two"},
			{"GNU hash", debugelf.DT_GNU_HASH, []uint32{2, 2, 0, 0, 2, 3, 2, 4, 6, 6, 5, 3}, "one picked two"},
			{"no hash", debugelf.DT_NULL, nil, "one picked two"},
			{"hash of fewer", debugelf.DT_HASH, []uint32{1, 2}, "one"},
		} {
			parts := f.Symtab(".dynsym", ".dynstr", debugelf.SHT_DYNSYM, symbols(1))
			var words bytes.Buffer
			var order binary.ByteOrder = binary.LittleEndian
			if f.Order != nil {
				order = f.Order
			}
			binary.Write(&words, order, c.hash)
			g := f
			g.Sections = []elftest.Section{
				{Offset: text, Data: make([]byte, 0x40)},
				{Offset: dynamic, Data: f.Dynamic(uint64(debugelf.DT_SYMTAB), 0x1000+syms-text, uint64(debugelf.DT_STRTAB), 0x1000+strings-text,
					uint64(debugelf.DT_STRSZ), uint64(len(parts[1].Data)), 0x6ffffdf8, 0xabcd, uint64(c.tag), 0x1000+hash-text)},
				{Offset: hash, Data: words.Bytes()},
				{Offset: syms, Data: parts[0].Data},
				{Offset: strings, Data: parts[1].Data},
			}
			g.Loads = []elftest.Load{
				{Flags: debugelf.PF_R | debugelf.PF_X, Offset: text, Address: 0x1000, FileSize: 0x430, MemSize: 0x430},
				{Type: debugelf.PT_DYNAMIC, Offset: dynamic, FileSize: 0x100},
			}
			b := g.Bytes()
			if f.Class == debugelf.ELFCLASS32 {
				copy(b[32:], make([]byte, 4))
			} else {
				copy(b[40:], make([]byte, 8))
			}
			table := symtab.Read(parse(t, b), nil).Finish()
			if got := names(table); got != c.want || table.Notes != nil || table.Checksum != 0xabcd {
				t.Errorf("%v %s: functions %s, notes %v, checksum %#x", f.Class, c.name, got, table.Notes, table.Checksum)
			}
		}
	}
}

// Notes distinguish damage from remarks, and have the offset of damage in the object's own file.
func TestNotes(t *testing.T) {
	var f elftest.File
	text := elftest.Text(".text", 0x1000, 0x400, 0x40)
	f.Sections = []elftest.Section{text, {Name: ".gnu_debugdata", Offset: 0x500, Data: []byte("no xz stream")}}
	symbols := f.Symtab(".symtab", ".strtab", debugelf.SHT_SYMTAB, symbols(1))
	cut := elftest.File{Sections: append([]elftest.Section{text}, symbols...)}
	cut.Sections[1].Size = 1 << 20
	whole := elftest.File{Sections: []elftest.Section{text}}
	for _, c := range []struct {
		name          string
		object, debug elftest.File
		offset        int64
	}{
		{"embedded symbols", f, elftest.File{}, 0x500},
		{"own symbols", cut, elftest.File{}, 0x440},
		{"the debug file's symbols", whole, cut, -1},
	} {
		var debug *elf.File
		if c.debug.Sections != nil {
			debug = parse(t, c.debug.Bytes())
		}
		notes := symtab.Read(parse(t, c.object.Bytes()), debug).Notes
		if len(notes) != 1 || !notes[0].Damage || notes[0].Offset != c.offset {
			t.Errorf("%s: notes %+v", c.name, notes)
		}
	}
}

// Signal trampolines of every C library are named by their instructions, with and without a symbol
// table, unless a symbol names them.
func TestTrampoline(t *testing.T) {
	const amd64, i386, arm64 = debugelf.EM_X86_64, debugelf.EM_386, debugelf.EM_AARCH64
	for _, c := range []struct {
		name    string
		machine debugelf.Machine
		code    string
		symbols debugelf.SectionType
		want    string
	}{
		{"glibc and musl", amd64, "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", debugelf.SHT_DYNSYM, "kill <static>@0x410 __restore_rt <static>@0x429"},
		{"the shorter instruction", amd64, "\xb8\x0f\x00\x00\x00\x0f\x05", debugelf.SHT_DYNSYM, "kill <static>@0x410 __restore_rt <static>@0x427"},
		{"another system call", amd64, "\xb8\x10\x00\x00\x00\x0f\x05", debugelf.SHT_DYNSYM, "kill <static>@0x410"},
		{"for handlers with siginfo", i386, "\xb8\xad\x00\x00\x00\xcd\x80", debugelf.SHT_DYNSYM, "kill <static>@0x410 __restore_rt <static>@0x427"},
		{"for handlers without", i386, "\x58\xb8\x77\x00\x00\x00\xcd\x80", debugelf.SHT_DYNSYM, "kill <static>@0x410 __restore <static>@0x428"},
		{"A64", arm64, "\x68\x11\x80\xd2\x01\x00\x00\xd4", debugelf.SHT_DYNSYM, "kill <static>@0x410 __restore_rt <static>@0x428"},
		{"a symbol table that names it not", amd64, "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", debugelf.SHT_SYMTAB, "kill <static>@0x410 __restore_rt <static>@0x429"},
	} {
		text := elftest.Text(".text", 0x1000, 0x400, 0x80)
		copy(text.Data[0x20:], c.code)
		f := elftest.File{Machine: c.machine}
		if c.machine == i386 {
			f.Class = debugelf.ELFCLASS32
		}
		list := []elftest.Symbol{{Name: "kill", Type: debugelf.STT_FUNC, Section: 1, Value: 0x1000, Size: 16}}
		f.Sections = append([]elftest.Section{text}, f.Symtab(".syms", ".strs", c.symbols, list)...)
		var got []string
		walk(t, symtab.Read(parse(t, f.Bytes()), nil).Finish(), func(f symtab.Function) { got = append(got, f.Name) })
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		list = append(list, elftest.Symbol{Name: "sigreturn", Type: debugelf.STT_FUNC, Section: 1, Value: 0x1020, Size: 16})
		f.Sections = append([]elftest.Section{text}, f.Symtab(".syms", ".strs", c.symbols, list)...)
		if got := names(symtab.Read(parse(t, f.Bytes()), nil).Finish()); got != "kill sigreturn" {
			t.Errorf("%s: functions %s where a symbol covers it", c.name, got)
		}
	}
}

// All functions that nm lists are in the table, at the same addresses.
func TestAgainstNM(t *testing.T) {
	nm, err := exec.LookPath("nm")
	if err != nil {
		t.Skip("no nm")
	}
	for _, name := range recorded {
		path := filepath.Join("testdata", name)
		table := read(t, path)
		out, err := exec.Command(nm, "--defined-only", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
			var addr uint64
			var kind, symbol string
			if n, _ := fmt.Sscanf(line, "%x %s %s", &addr, &kind, &symbol); n != 3 || !strings.Contains("Tti", kind) {
				continue
			}
			off, ok := table.Addresses().Offset(addr)
			f, found := table.Function(off)
			if !ok || !found || f.Address != addr || !slices.Contains(symtab.Split(f.Aliases), symbol) {
				t.Errorf("%s: nm has %s at %#x, the table %+v", name, symbol, addr, f)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"libstripped.so", "plt_sec"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	e := elftest.File{Class: debugelf.ELFCLASS32, Order: binary.BigEndian, Machine: debugelf.EM_SPARC}
	e.Sections = append([]elftest.Section{elftest.Text(".text", 0x1000, 0x400, 0x40)},
		e.Symtab(".symtab", ".strtab", debugelf.SHT_SYMTAB, symbols(1))...)
	f.Add(e.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := elf.New("fuzz", b)
		if err != nil {
			return
		}
		table := symtab.Read(o, nil).Finish()
		var end uint64
		for fn := range table.Functions.All() {
			if fn.Offset < end || fn.Size == 0 {
				t.Fatalf("%+v overlaps what ends at %#x", fn, end)
			}
			end = fn.Offset + fn.Size
			if got, ok := table.Function(fn.Offset); !ok || got != fn {
				t.Fatalf("looked up %+v, got %+v", fn, got)
			}
		}
		for _, r := range table.Regions {
			if got, ok := table.Function(r.Offset + r.Size - 1); !ok || got.Offset+got.Size > r.Offset+r.Size {
				t.Fatalf("%+v ends beyond its region %+v", got, r)
			}
		}
	})
}

// Names that are not UTF-8 are mended: they would make columns of strings unreadable.
func TestInvalidName(t *testing.T) {
	f := elftest.File{}
	f.Sections = append([]elftest.Section{elftest.Text(".text", 0x1000, 0x400, 0x40)},
		f.Symtab(".symtab", ".strtab", debugelf.SHT_SYMTAB, []elftest.Symbol{{Name: "gr\xfc\xdfe", Type: debugelf.STT_FUNC, Section: 1, Value: 0x1000, Size: 8}})...)
	if got := names(symtab.Read(parse(t, f.Bytes()), nil).Finish()); got != "gr\ufffde" {
		t.Errorf("got %q", got)
	}
}
