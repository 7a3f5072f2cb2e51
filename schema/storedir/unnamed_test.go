package storedir

import (
	"os"
	"path/filepath"
	"testing"
)

// An unnamed file can be used, but has no path.
func TestNewUnnamed(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	f, err := NewUnnamed(store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("x"), 5); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(filepath.Join(store, StagingDir)); err != nil || len(entries) != 0 {
		t.Errorf("found %v, %v", entries, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// Clean removes a file that a killed process could not unlink.
func TestCleanUnnamed(t *testing.T) {
	store := t.TempDir()
	left := filepath.Join(store, StagingDir, "unnamed-1")
	if err := makeDirs(store); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	Clean(store)
	if entries, err := os.ReadDir(filepath.Join(store, StagingDir)); err != nil || len(entries) != 0 {
		t.Errorf("found %v, %v", entries, err)
	}
}
