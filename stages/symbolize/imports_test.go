package symbolize

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cache"
	"stackmill/stages/loadobject/elf/elftest"
)

// The instruction of a call and the relocations show which function it enters, in every way in
// which compilers call functions of other load objects.
func TestImports(t *testing.T) {
	const base = 0x400000
	noPLT := map[elf.Machine]string{elf.EM_X86_64: "ext_noplt", elf.EM_AARCH64: ""} // A64 loads the address earlier
	for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64} {
		for _, sections := range []bool{true, false} {
			path := filepath.Join(t.TempDir(), "importing")
			if err := os.WriteFile(path, elftest.Importing(machine, sections), 0o644); err != nil {
				t.Fatal(err)
			}
			r, rec := recording(nil)
			rec.Locate = func(string) []decode.Candidate { return []decode.Candidate{{Path: path, Origin: "path"}} }
			r.tables = cache.New(cache.Options{}).Local()
			pr := process(r, decode.MapEvent{Path: path, Address: base, Size: 0x4000, Modes: 5})
			got := map[uint64]string{}
			for _, at := range []uint64{elftest.Lazy, elftest.Sec, elftest.Got, elftest.NoPLT, elftest.TailCall, elftest.Tailed, elftest.Linker, elftest.PLTLazy} {
				for _, i := range r.Imports(pr.Resolve(base+at, 0).Location) {
					got[at] += i.Symbol
					if i.Entry >= 0 {
						l := *r.Program.Location(i.Entry)
						f := r.Program.Functions[l.Function]
						got[at] += fmt.Sprintf(" %s %s %#x", f.Name, f.Kind, l.Offset)
					}
				}
			}
			want := map[uint64]string{
				elftest.Lazy:     "ext_lazy @plt plt 0x1020",
				elftest.Sec:      "ext_sec @plt plt 0x1100",
				elftest.Got:      "ext_got",
				elftest.TailCall: "ext_lazy @plt plt 0x1020",
				elftest.Linker:   "linker_function @plt plt 0x1030",
			}
			if s := noPLT[machine]; s != "" {
				want[elftest.NoPLT] = s
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%v, sections %v: %s", machine, sections, d)
			}
			tables := map[string]bool{}
			for _, f := range r.Program.Functions {
				if f.Name == "@plt" {
					tables[fmt.Sprint(f.ID)] = true
				}
			}
			if len(tables) != 1 {
				t.Errorf("%v, sections %v: %d functions @plt, want one for the object", machine, sections, len(tables))
			}
		}
	}
}
