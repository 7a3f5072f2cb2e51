package symbolize

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
)

// What a process imports is in load objects that it has mapped, whatever those of others have
// of that name.
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
	files := disk{}
	add := func(name, function, imports string) string {
		path := write(name)
		table := program(name, symtab.Function{Name: function}, symtab.Function{Name: "main"})
		table.Arch, table.Slots = isa.AMD64, []symtab.Slot{{Address: slot, Symbol: imports}}
		files[path] = table
		return path
	}
	user, library, other := add("user", "use", "work"), add("library", "work", "nothing"), add("other", "work", "nothing")
	files[library].Functions = files[library].Functions[:1] // no main
	r, _ := recording(files)
	const base, libraryBase, otherBase = 0x10000, 0x20000, 0x30000
	both := process(r, text(user, base), text(library, libraryBase))
	all := process(r, text(user, base), text(library, libraryBase), text(other, otherBase))
	alone := process(r, text(user, base))
	again := process(r, text(library, libraryBase), text(user, base))
	call := alone.Resolve(base+5, 0).Location
	for _, test := range []struct {
		name string
		pr   *Process
		want string // the load object of what the call enters, empty if that is not known
		main bool   // there is one function main
	}{
		{"the library is mapped", both, "library", true},
		{"another one has the name, too", all, "", false},
		{"nobody has it", alone, "", true},
		{"the same load objects", again, "library", true},
	} {
		found, missing := test.pr.Infer(call, None, func() bool { return false })
		got := ""
		if found.Location >= 0 {
			got = r.Program.Objects[r.Program.Locations[found.Location].Object].Name
		}
		if !missing || got != test.want {
			t.Errorf("%s: missing %t, in %q, want %q", test.name, missing, got, test.want)
		}
		if found, _ := test.pr.Infer(test.pr.Resolve(base+0x50, 0).Location, None, func() bool { return true }); found.Location >= 0 != test.main {
			t.Errorf("%s: main is found: %t", test.name, found.Location >= 0)
		}
		work := r.Program.Locations[both.Resolve(libraryBase, 0).Location].Function
		if got := test.pr.CallEnters(call, work); got != (test.pr != alone) {
			t.Errorf("%s: the call enters the library's function: %t", test.name, got)
		}
		if got := test.pr.ReturnsItself("work"); got != (test.pr != alone) {
			t.Errorf("%s: it returns: %t", test.name, got)
		}
	}
	if both.Scope() != again.Scope() || both.Scope() == all.Scope() || alone.Scope() == both.Scope() {
		t.Errorf("scopes %d, %d, %d, %d", both.Scope(), all.Scope(), alone.Scope(), again.Scope())
	}
}
