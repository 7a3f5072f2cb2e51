package storedir

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// snapshot returns the contents of a store from a snapshot.
func snapshot(t *testing.T, store string) *Contents {
	t.Helper()
	before, err := ReadContents(store)
	if err != nil && !errors.Is(err, ErrNoStore) {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := before.WriteSnapshot(&text); err != nil {
		t.Fatal(err)
	}
	c, err := ReadSnapshot(store, &text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// damage makes a commit unreadable.
func damage(t *testing.T, store, batch string) {
	t.Helper()
	if err := os.WriteFile(commitPath(store, batch), nil, 0o666); err != nil {
		t.Fatal(err)
	}
}

// A snapshot has the contents of the commits, and of later ones only those that were added by name.
func TestSnapshot(t *testing.T) {
	store := t.TempDir()
	made(t, store, 0, "b1", "x y", func(c *Commit) {
		c.Files = append(c.Files, File{Table: "problems", Path: FilePath("problems", "b1")})
		c.Experiments[0].Recorded = "r"
	})
	made(t, store, 1, "l2", "x", labels(1, "k", "2"))
	made(t, store, 2, "f3", "y.2", out(Forgotten))
	made(t, store, 3, "z", "z", nil)
	made(t, store, 4, "z.2", "z.2", nil)
	made(t, store, 5, "w", "w", nil)
	damage(t, store, "w")
	c := snapshot(t, store)
	const had, was = "b1: x(k=2), z.2: z", "z"
	if visible(c) != had || replaced(c) != was || len(c.Damaged) != 1 || c.NextGeneration("y") != 3 || len(c.ByRecording()["r"]) != 1 || c.NewBatchName([]Entry{{ExperimentID: "w", Generation: 1}}) != "w.2" {
		t.Errorf("%q, replaced %q, damaged %v", visible(c), replaced(c), c.Damaged)
	}

	made(t, store, 6, "b4", "v", nil)
	made(t, store, 6, "b5", "u", nil)
	made(t, store, 6, "b6", "t", nil)
	damage(t, store, "b6")
	if err := errors.Join(os.Remove(commitPath(store, "w")), c.Refresh()); err != nil {
		t.Fatal(err)
	}
	c.Sweep(time.Nanosecond)
	if names, err := filepath.Glob(commitPath(store, "*")); visible(c) != had || len(names) != 8 || err != nil {
		t.Errorf("it sees %q of %v, %v", visible(c), names, err)
	}
	if err := c.AddByName("b4", "b1"); err != nil || visible(c) != "b1: x(k=2), b4: v, z.2: z" {
		t.Errorf("%q, %v", visible(c), err)
	}
	if err := c.AddByName("b7", "b5"); !errors.Is(err, fs.ErrNotExist) || visible(c) != "b1: x(k=2), b4: v, b5: u, z.2: z" {
		t.Errorf("%q, %v", visible(c), err)
	}
	if err := c.AddByName("b6"); !errors.Is(err, ErrDamaged) || len(c.Damaged) != 2 {
		t.Errorf("%v, damaged %v", err, c.Damaged)
	}
	if err := c.Unfreeze(); err != nil || c.IsSnapshot() || len(c.Damaged) != 1 {
		t.Errorf("damaged %v, %v", c.Damaged, err)
	}
	made(t, store, 7, "b8", "s", nil)
	if err := c.Refresh(); err != nil || visible(c) != "b1: x(k=2), b4: v, b5: u, b8: s, z.2: z" {
		t.Errorf("%q, %v", visible(c), err)
	}
}

// A snapshot of a store that does not exist yet is empty.
func TestSnapshotOfNothing(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	c := snapshot(t, store)
	if err := c.Refresh(); err != nil || len(c.Batches) != 0 || !c.IsSnapshot() {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := ReadSnapshot(store, bytes.NewReader([]byte("{\n"))); err == nil {
		t.Error("half a line is none")
	}
}
