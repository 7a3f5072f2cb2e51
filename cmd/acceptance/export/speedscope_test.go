package export

import (
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"stackmill/queries/export"
)

// speedscope reads the values of `report functions` from its own format, from folded stacks and
// from pprof's format, where it ignores inlined functions.
func TestSpeedscope(t *testing.T) {
	for name, metric := range map[string]string{"recur": "totalcpu", "cxx": "totalcpu", "heap": "heapallocbytes", "omp_gcc": "totalcpu"} {
		db := only(t, name+".er")
		var paths []string
		for as, file := range map[string]string{"speedscope": "a.speedscope.json", "folded": "a.folded.txt", "pprof": "a.pb.gz"} {
			path := filepath.Join(t.TempDir(), file)
			write(t, path, exported(t, db, export.Request{As: as, Metric: metric}))
			paths = append(paths, path)
		}
		for _, p := range speedscope(t, paths...) {
			for _, none := range []string{"<no stack>", "<Total>"} {
				delete(p.Functions, none)
			}
			want := reported(t, db, "function_metrics", "f.name", metric, "user")
			delete(want, "<Total>")
			if diff := gocmp.Diff(p.Functions, want); diff != "" {
				t.Errorf("%s, %s: -speedscope +report\n%s", name, p.File, diff)
			}
			if want := total(t, db, metric, "user"); p.Total != want {
				t.Errorf("%s, %s: total %d, want %d", name, p.File, p.Total, want)
			}
		}
	}
}
