package pipeline

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"stackmill/internal/corpus"
)

// The tables of every recording are the same, byte by byte, whether all words of each stack pass
// the rules or only those that are not settled; and resymbolize makes the same rows from the store.
func TestWholeStacks(t *testing.T) {
	recordings, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	perf := t.TempDir()
	if err := corpus.Perf(perf); err != nil {
		t.Fatal(err)
	}
	settled, whole := filepath.Join(t.TempDir(), "settled"), filepath.Join(t.TempDir(), "whole")
	var opts Options
	for _, store := range []string{settled, whole} {
		wholeStacks = store == whole
		defer func() { wholeStacks = false }()
		opts = Options{Store: store, Cache: filepath.Join(perf, "cache"), SymFS: filepath.Join(perf, "symfs"), DebugDirs: []string{}, Jobs: 2, Recursive: true}
		results, err := Ingest(t.Context(), opts, recordings, perf)
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, r := range results {
			if r.Batch != "" {
				read++
			}
		}
		if read < 100 {
			t.Fatalf("%d recordings are in the store", read)
		}
	}
	files := 0
	err = fs.WalkDir(os.DirFS(settled), "tables", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		one, err := os.ReadFile(filepath.Join(settled, path))
		if err != nil {
			return err
		}
		if other, err := os.ReadFile(filepath.Join(whole, path)); err != nil || !bytes.Equal(one, other) {
			t.Errorf("%s differs: %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Error("no files were compared")
	}
	wholeStacks = false
	sameWhenRedone(t, opts)
}
