package symbolize

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
)

// The dynamic linker finds a symbol in load objects of user code only, not in the kernel, its
// modules or generated code.
func TestLinkedFunctions(t *testing.T) {
	const library, generated = "/lib/library", "/tmp/perf-7.map"
	r, rec := recording(tableMap{
		library:           tableOf("aa", symtab.Function{Name: "do_work"}, symtab.Function{Name: "ext4_read"}),
		decode.KernelPath: kernelImage("bb"),
		"/lib/ext4.ko":    module(),
		generated:         symtab.ReadPerfMap([]byte("5000 100 do_work\n5100 100 main\n")).Finish(),
	})
	rec.Arch, rec.WordBits, rec.OS = "x86_64", 64, "Linux 6.1"
	pr := process(r, text(library, 0x400000),
		decode.MapEvent{Path: decode.KernelPath, Address: linked, Size: 0x3000, FileOffset: linked, Modes: 5, BuildID: "bb"},
		decode.MapEvent{Path: "/lib/ext4.ko", Address: modules, Size: 0x4000, Modes: 5},
		decode.MapEvent{Path: generated, Address: 0x5000, Size: 0x1000, FileOffset: 0x5000, Modes: 5})
	got := map[string][]string{}
	for _, symbol := range []string{"do_work", "ext4_read", "schedule", "main"} {
		for _, e := range pr.ScopeAt(0).entriesNamed(symbol) {
			got[symbol] = append(got[symbol], fmt.Sprintf("%s %#x", r.Program.Objects[e.object].Name, e.offset))
		}
	}
	want := map[string][]string{"do_work": {"library 0x1000"}, "ext4_read": {"library 0x1100"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	tables := 0
	for i := range r.Program.Objects {
		if r.loadObjects[i].table != nil {
			tables++
		}
	}
	if tables != 4 {
		t.Errorf("%d load objects have functions, want 4", tables)
	}
}
