package symbolize

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// A call shows the missing caller above it (S22), and may contradict the recorded one.
func TestInfer(t *testing.T) {
	const base = 0x10000
	names := []string{"main", "outer", "hot", "leaf", "tailer", "virtual", "switcher", "twice"}
	place := map[string]uint64{}
	for i, n := range names {
		place[n] = 0x1000 + 0x100*uint64(i)
	}
	content := bytes.Repeat([]byte{0x90}, 0x2000)
	for i := 0xff; i < len(content); i += 0x100 {
		content[i] = 0xc3 // all return
	}
	calls := map[string]uint64{} // where they end, by caller and callee
	put := func(name string, at uint64, opcode byte, target string) {
		from := place[name] + at
		content[from] = opcode
		binary.LittleEndian.PutUint32(content[from+1:], uint32(place[target]-from-5))
		calls[name+" "+target] = from + 5
	}
	const call, jump = 0xe8, 0xe9
	put("main", 0, call, "outer")
	put("main", 0x10, call, "tailer")
	put("main", 0x20, call, "virtual")
	put("main", 0x30, call, "switcher")
	put("main", 0x40, call, "twice")
	put("outer", 0, call, "hot")
	put("hot", 0, call, "leaf")
	put("tailer", 0, jump, "leaf")
	copy(content[place["virtual"]:], "\xff\xd0")  // call *%rax
	copy(content[place["switcher"]:], "\xff\xe0") // jmp *%rax
	put("twice", 0, call, "leaf")
	put("twice", 0x10, call, "leaf")

	path := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	var functions []symtab.Function
	for _, n := range names {
		functions = append(functions, symtab.Function{Name: n})
	}
	table := tableOf("aa", functions...)
	table.Arch = isa.AMD64
	r, _ := recording(tableMap{path: table})
	pr := process(r, text(path, base))
	at := func(offset uint64) program.LocationNo { return pr.Resolve(base+offset-0x1000, 0).Location }
	leaf := at(place["leaf"] + 1)

	for _, tt := range []struct {
		call        string
		missing     bool
		caller      string // empty: not known
		calls       bool
		instruction bool // its call is known
		contradicts bool
	}{
		{"outer hot", true, "hot", true, true, true},
		{"main outer", true, "outer", false, false, true},
		{"hot leaf", false, "", false, false, false},
		{"main tailer", false, "", false, false, false},
		{"main virtual", true, "virtual", true, false, true},
		{"main switcher", true, "", false, false, false},
		{"main twice", true, "twice", true, false, true},
	} {
		location := at(calls[tt.call] - 1)
		found, missing := pr.ScopeAt(0).Infer(location, leaf, func() bool { return false })
		caller, known := "", false
		if found.Location >= 0 {
			l := *r.Program.Location(found.Location)
			caller, known = r.Program.Functions[l.Function].Name, l.Reason == ""
			if known && l.Offset != calls[tt.caller+" leaf"]-1 {
				t.Errorf("%s: the caller's instruction is at %#x", tt.call, l.Offset)
			}
		}
		if missing != tt.missing || missing && (caller != tt.caller || found.Calls != tt.calls || known != tt.instruction) {
			t.Errorf("%s: missing %v, caller %q, calls %v, instruction known %v", tt.call, missing, caller, found.Calls, known)
		}
		if got := pr.ScopeAt(0).Contradicts(location, leaf); got != tt.contradicts {
			t.Errorf("%s: contradicts %v", tt.call, got)
		}
	}
	if found, _ := pr.ScopeAt(0).Infer(at(place["main"]+0x50), leaf, func() bool { return true }); found.Location < 0 || r.Program.Functions[r.Program.Location(found.Location).Function].Name != "main" {
		t.Error("the C library's call of main tells nothing")
	}
	for offset, want := range map[uint64]bool{place["leaf"] + 0xf0: true, place["leaf"] + 0xff: true, place["hot"]: false} {
		if got := r.Returns(at(offset)); got != want {
			t.Errorf("%#x returns: %v", offset, got)
		}
	}
}

// A function has set its frame pointer, except in code that is reached by a jump before the
// setting, such as the code in which Go's functions let the stack grow.
func TestSetsFrame(t *testing.T) {
	const base = 0x10000
	content := bytes.Repeat([]byte{0x90}, 0x2000)
	copy(content[0x1000:], "\x49\x3b\x66\x10"+ // 0: cmp 0x10(%r14),%rsp
		"\x76\x0a"+ // 4: jbe 0x10
		"\x55\x48\x89\xe5"+ // 6: push %rbp; mov %rsp,%rbp
		"\xff\xd0"+ // 0xa: call *%rax
		"\x5d\xc3\x90\x90"+ // 0xc: pop %rbp; ret
		"\xff\xd1"+ // 0x10: call *%rcx
		"\xeb\xec"+ // 0x12: jmp 0
		"\x90\xc3") // 0x14: nop; ret
	path := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	table := tableOf("aa", symtab.Function{Name: "grows"})
	table.Arch = isa.AMD64
	r, _ := recording(tableMap{path: table})
	pr := process(r, text(path, base))
	for at, want := range map[uint64]bool{0: false, 6: false, 0xa: true, 0xd: true, 0x10: false, 0x12: false, 0x14: true} {
		offset, known := r.SetsFrame(pr.Resolve(base+at, 0).Location)
		if set := offset > 0 && offset <= 0x1000+at; set != want || !known {
			t.Errorf("%#x: the frame pointer is set: %v, known %v", at, set, known)
		}
	}
}
