package symbolize

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cache"
	"stackmill/stages/loadobject/funcinfo"
)

// A64 code computes the address of a body in two instructions. The address of a task's body is
// computed in the body of the enclosing region.
func TestReferencesARM64(t *testing.T) {
	const path = "testdata/libregions_arm64.so"
	table, err := cache.New(cache.Options{DebugDirs: []string{}}).Local().Load(path)
	if err != nil {
		t.Fatal(err)
	}
	r, rec := recording(tableMap{path: table})
	rec.Locate = func(string) []decode.Candidate { return []decode.Candidate{{Path: path, Origin: "path"}} }
	const base = 0x1000000
	pr := process(r, decode.MapEvent{Path: path, Address: base, Size: 0x1000, Modes: 5})
	got := map[string]string{}
	for f := range table.Functions.All() {
		if kindOf(f) == funcinfo.Body {
			n := r.Program.Location(pr.Resolve(base+f.Offset, 0).Location).Function
			if main, ok := r.Program.BodyOf(n); ok {
				got[f.Linkage] = r.Program.Functions[main].Name
			}
		}
	}
	want := map[string]string{".omp_outlined.": "host_of_inlined", ".omp_outlined..3": "plain", ".omp_task_entry.": "plain"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
