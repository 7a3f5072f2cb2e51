package symbolize

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// A process imports functions only from load objects that it has mapped itself.
func TestScope(t *testing.T) {
	const slot = 0x2100
	dir := t.TempDir()
	write := func(name string) string {
		content := bytes.Repeat([]byte{0x90}, 0x2000)
		content[0x10ff], content[0x11ff] = 0xc3, 0xc3
		copy(content[0x1000:], "\xff\x15") // call *slot(%rip)
		binary.LittleEndian.PutUint32(content[0x1002:], slot-0x1006)
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	files := tableMap{}
	add := func(name, function, imports string) string {
		path := write(name)
		functions := []symtab.Function{{Name: function}, {Name: "main"}}
		if name == "library" {
			functions = functions[:1]
		}
		table := tableOf(name, functions...)
		table.Arch, table.Slots = isa.AMD64, []symtab.Slot{{Address: slot, Symbol: imports}}
		files[path] = table
		return path
	}
	user, library, other := add("user", "use", "work"), add("library", "work", "nothing"), add("other", "work", "nothing")
	r, _ := recording(files)
	const base, libraryBase, otherBase = 0x10000, 0x20000, 0x30000
	both := process(r, text(user, base), text(library, libraryBase))
	all := process(r, text(user, base), text(library, libraryBase), text(other, otherBase))
	alone := process(r, text(user, base))
	again := process(r, text(library, libraryBase), text(user, base))
	const executed = 100
	later := func(m decode.MapEvent) decode.MapEvent { m.Time = executed; return m }
	unmapped := func(address uint64) decode.MapEvent {
		return decode.MapEvent{Unmap: true, Time: executed, Address: address, Modes: 5}
	}
	changed := process(r, text(other, otherBase), text(library, libraryBase), unmapped(otherBase), unmapped(libraryBase), later(text(user, base)))
	opened := process(r, text(user, base), later(text(library, libraryBase)))
	call := alone.Resolve(base+5, 0).Location
	for _, test := range []struct {
		name string
		in   *Scope
		want string // the load object of what the call enters, empty if that is not known
		main bool   // there is one function main
	}{
		{"the library is mapped", both.ScopeAt(0), "library", true},
		{"another one has the name, too", all.ScopeAt(0), "", false},
		{"nobody has it", alone.ScopeAt(0), "", true},
		{"the same load objects", again.ScopeAt(0), "library", true},
		{"the program before has the name", changed.ScopeAt(executed), "", true},
		{"a library that is opened later", opened.ScopeAt(0), "library", true},
	} {
		found, missing := test.in.Infer(call, program.None, func() bool { return false })
		got := ""
		if found.Location >= 0 {
			got = r.Program.Objects[r.Program.Location(found.Location).Object].Name
		}
		if !missing || got != test.want {
			t.Errorf("%s: missing %t, in %q, want %q", test.name, missing, got, test.want)
		}
		if found, _ := test.in.Infer(alone.Resolve(base+0x50, 0).Location, program.None, func() bool { return true }); found.Location >= 0 != test.main {
			t.Errorf("%s: main is found: %t", test.name, found.Location >= 0)
		}
		work := r.Program.Location(both.Resolve(libraryBase, 0).Location).Function
		mapped := slices.Contains(test.in.objects, r.Program.Functions[work].Object)
		if got := test.in.CallEnters(call, work); got != mapped {
			t.Errorf("%s: the call enters the library's function: %t", test.name, got)
		}
		if got := test.in.ReturnsItself("work"); got != mapped {
			t.Errorf("%s: it returns: %t", test.name, got)
		}
	}
	first := both.ScopeAt(0)
	if again.ScopeAt(0) != first || opened.ScopeAt(executed) != first || all.ScopeAt(0) == first || alone.ScopeAt(0) == first {
		t.Error("scopes are not those of the same load objects")
	}
	if before, after := changed.ScopeAt(executed-1), changed.ScopeAt(executed); before != changed.ScopeAt(-1) || before == after || after != alone.ScopeAt(0) {
		t.Error("a process that executes another program does not have the scope of that")
	}
}
