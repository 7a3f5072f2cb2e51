package perf

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/pipeline"
)

// Recordings with data objects give the same tables, whether read concurrently or one after the
// other, with a cold, warm or missing cache of load objects.
func TestDataDeterminism(t *testing.T) {
	cache := t.TempDir()
	var want map[string]string
	for _, o := range []pipeline.Options{{Jobs: 1, Cache: cache}, {Jobs: 3, Cache: cache}, {Jobs: 2}} {
		o.Store, o.DebugDirs, o.SymFS = t.TempDir(), []string{filepath.Join(folder, "none")}, filepath.Join(folder, "symfs")
		var paths []string
		for _, name := range []string{"p_data", "p_data_phys", "p_watch"} {
			paths = append(paths, filepath.Join(folder, "perf", name+".data"))
		}
		if _, err := pipeline.Ingest(t.Context(), o, paths...); err != nil {
			t.Fatal(err)
		}
		got := sums(t, filepath.Join(o.Store, "tables"))
		if len(got["data_samples"]) == 0 {
			t.Fatal("no data objects")
		}
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d jobs, cache %q: %s", o.Jobs, o.Cache, diff)
		}
	}
}

// sums returns the checksums of each table's files.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		found[filepath.Base(filepath.Dir(path))] += fmt.Sprintf("%s %x\n", d.Name(), sha256.Sum256(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
