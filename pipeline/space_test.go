package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/corpus"
	"stackmill/internal/hosterr"
	"stackmill/schema/storedir"
)

// sumsOf ingests a recording and returns the checksums of its tables.
func sumsOf(t *testing.T, recording string) map[string]string {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	results, err := Ingest(t.Context(), Options{Store: store, Jobs: 1, DebugDirs: []string{}}, recording)
	if err != nil || len(results) != 1 || results[0].Status != Complete {
		t.Fatal(results, err)
	}
	commits, err := storedir.Commits(store)
	if err != nil || len(commits) != 1 {
		t.Fatal(commits, err)
	}
	sums := map[string]string{}
	for _, f := range commits[0].Files {
		sums[f.Table] = f.Checksum
	}
	delete(sums, "experiments") // it has times
	if left, err := os.ReadDir(filepath.Join(store, storedir.StagingDir)); err != nil || len(left) != 0 {
		t.Errorf("left in the store: %v, %v", left, err)
	}
	return sums
}

// Spilling to disk does not change the tables, and leaves no file.
func TestPutAside(t *testing.T) {
	recordings := t.TempDir()
	if err := corpus.Perf(recordings); err != nil {
		t.Fatal(err)
	}
	least := minMemory
	defer func() { minMemory = least }()
	for _, name := range []string{"p_fork.data", "p_data.data", "p_recur_dwarf.data", "p_group_read.data"} {
		recording := filepath.Join(recordings, "perf", name)
		minMemory = least
		want := sumsOf(t, recording)
		minMemory = 0
		if diff := cmp.Diff(want, sumsOf(t, recording)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A store that cannot be written is a store error, not the recording's.
func TestNowhereToPutAside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := (&ingest{options: &Options{Store: filepath.Join(file, "store"), Progress: &Progress{}}}).space()
	_, err := s.Append(make([]byte, 1<<20))
	if !hosterr.Is(err) || !errors.As(err, new(errStore)) {
		t.Error(err)
	}
}
