package unwind

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
)

// The gaps in a chain of frame pointers depend on what the process has mapped, even if another
// process, or the program executed before, has the same frames.
func TestGapsOfProcesses(t *testing.T) {
	const slot, library, executed = 0xf00, 0x500000, 100
	content := bytes.Repeat([]byte{0x90}, size)
	content[0x1ff] = 0xc3
	copy(content[0x200:], "\xff\x15") // call *slot(%rip)
	binary.LittleEndian.PutUint32(content[0x202:], slot-0x206)
	dir, tables := t.TempDir(), files{}
	add := func(name string, functions ...symtab.Function) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		tables[path] = table(functions...)
		tables[path].Arch, tables[path].Slots = isa.AMD64, []symtab.Slot{{Address: slot, Symbol: "hop"}}
		return path
	}
	prog := add("prog", symtab.Function{Offset: 0x200, Name: "main"}, symtab.Function{Offset: 0x300, Name: "__restore_rt"})
	lib := add("lib", symtab.Function{Offset: 0x100, Name: "hop"})
	mapped := func(address uint64, path string, at int64) decode.MapEvent {
		return decode.MapEvent{Time: at, Address: address, Size: size, Modes: 5, Path: path}
	}
	unmapped := decode.MapEvent{Unmap: true, Time: executed, Address: library, Modes: 5}
	rec := &decode.Recording{Arch: "x86_64", WordBits: 64, Locate: decode.AtPath}
	r := symbolize.New(rec, rec, tables)
	known, set := NewCache(), stacktree.NewTree()
	grower := NewTreeBuilder(set)
	reader := NewStackReader(nil)
	const unknown, inferred = "__restore_rt <Missing-caller>/S22 missing main", "__restore_rt <Missing-caller>/S22 missing hop/S22 inferred main"
	for _, test := range []struct {
		name  string
		image []decode.MapEvent
		at    int64
		want  string
	}{
		{"with the library", []decode.MapEvent{mapped(progBase, prog, 0), mapped(library, lib, 0)}, 0, inferred},
		{"without it", []decode.MapEvent{mapped(progBase, prog, 0)}, 0, unknown},
		{"with it again", []decode.MapEvent{mapped(progBase, prog, 0), mapped(library, lib, 0)}, 0, inferred},
		{"the program before had it", []decode.MapEvent{mapped(library, lib, 0), unmapped, mapped(progBase, prog, executed)}, executed, unknown},
	} {
		p := &decode.Process{Number: 1, Stacks: &decode.Stacks{}, Mappings: test.image}
		number := p.Stacks.Intern(&decode.RawStack{
			Words: []uint64{progBase + 0x300, progBase + 0x206}, Returns: true, Callers: decode.CallersChained, OMPState: -1,
		})
		process := r.Process(p, "map.xml")
		u := New(known, grower.Add, r, NewFrameTables(&framesOf{}, &rec.Problems), process, p)
		reader.emit = u.Add
		reader.Process(process, p.Stacks)
		path, _ := reader.Stack(number, false, test.at)
		reader.Flush()
		u.Flush()
		if got := text(r, set, normalizedStack{Path: path}, stacktree.Machine); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
