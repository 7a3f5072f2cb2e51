package storedir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// CleanScratch removes what killed processes left in the store's folder, but nothing that is in
// use.
func TestCleanScratch(t *testing.T) {
	store := t.TempDir()
	living, err := NewScratch(store)
	if err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(store, ".catalog-123")
	if err := errors.Join(os.Mkdir(old, 0o777), os.WriteFile(filepath.Join(old, "x"), nil, 0o666),
		os.WriteFile(filepath.Join(store, ".catalog-9.lock"), []byte(kernel()+"\n"), 0o666)); err != nil {
		t.Fatal(err)
	}
	Clean(store)
	if entries, err := os.ReadDir(store); err != nil || len(entries) != 2 || entries[0].Name() != filepath.Base(living.Dir) {
		t.Errorf("left %v, %v", entries, err)
	}
	living.Remove()
	if entries, err := os.ReadDir(store); err != nil || len(entries) != 0 {
		t.Errorf("left %v, %v", entries, err)
	}
}
