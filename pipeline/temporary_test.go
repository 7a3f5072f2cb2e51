package pipeline

import (
	"path/filepath"
	"testing"

	"stackmill/internal/corpus"
	"stackmill/schema/storedir"
)

// If no temporary file can be made, a compressed recording is aborted, not taken for a truncated
// one.
func TestNoTemporaryFolder(t *testing.T) {
	recordings := t.TempDir()
	if err := corpus.Perf(recordings); err != nil {
		t.Fatal(err)
	}
	compressed, store := filepath.Join(recordings, "perf", "p_recur_z.data"), filepath.Join(t.TempDir(), "store")
	full := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		name, folder, status string
		batches              int
	}{{"no folder", full, Aborted, 0}, {"again", t.TempDir(), Complete, 1}} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TMPDIR", c.folder)
			results, err := Ingest(t.Context(), Options{Store: store, Jobs: 1, DebugDirs: []string{}}, compressed)
			if err != nil || len(results) != 1 || results[0].Status != c.status {
				t.Fatal(results, err)
			}
			commits, err := storedir.Commits(store)
			if len(commits) != c.batches {
				t.Errorf("%d batches, want %d: %v", len(commits), c.batches, err)
			}
		})
	}
}
