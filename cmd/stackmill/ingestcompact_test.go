package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/internal/exit"
)

// With --auto-compact, new batches are merged with old ones, and the report says so; without new
// ones, nothing is merged.
func TestAutoCompact(t *testing.T) {
	n := newNight(t)
	a, b := filepath.Join(n.dir, "a.er"), filepath.Join(n.dir, "b.er")
	if code := n.ingest(a); code != 0 || n.read().Compacted != nil {
		t.Fatalf("status %d\n%s", code, n.stderr)
	}
	if code := n.ingest("--auto-compact", a, b); code != 0 {
		t.Fatalf("status %d\n%s", code, n.stderr)
	}
	r := n.read()
	if c := r.Compacted; c == nil || c.Merged != 2 || c.Written != 1 || c.After.Batches != 1 || c.After.Experiments != 2 || len(r.Batches) != 1 {
		t.Errorf("%+v", c)
	}
	if batches := n.series()["stackmill_store_batches"]; batches != 1 || !strings.Contains(n.stderr, "msg=compact merged=2 written=1 batches=1\n") {
		t.Errorf("%v batches\n%s", batches, n.stderr)
	}
	if code := n.ingest("--auto-compact", n.dir+"/a.er"); code != 0 || n.read().Compacted != nil {
		t.Errorf("again: status %d\n%s", code, n.stderr)
	}
}

// If batches cannot be merged, a message and the exit status say so, but the recordings are in the
// store.
func TestAutoCompactDamaged(t *testing.T) {
	n := newNight(t)
	if code := n.ingest(filepath.Join(n.dir, "a.er")); code != 0 {
		t.Fatalf("status %d\n%s", code, n.stderr)
	}
	files, err := filepath.Glob(filepath.Join(n.store, "tables", "samples", "*.parquet"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	if err == nil {
		data[len(data)/2] ^= 1
		err = os.WriteFile(files[0], data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	code := n.ingest("--auto-compact", filepath.Join(n.dir, "b.er"))
	r := n.read()
	if code != exit.Damaged || r.ExitStatus != exit.Damaged || !strings.Contains(r.Error, "damaged batches were not merged") || r.Compacted == nil || r.Compacted.Error != r.Error || !r.Inputs[0].InStore {
		t.Errorf("status %d, %+v\n%s", code, r, n.stderr)
	}
}
