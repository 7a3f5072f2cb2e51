package cachetag

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder is a cache once it is marked, even if it had a truncated tag. A folder that another
// program marked is not this program's.
func TestTag(t *testing.T) {
	folder, other := t.TempDir(), t.TempDir()
	if Is(folder) {
		t.Error("a folder without a tag")
	}
	for range 2 {
		if Put(folder); !Is(folder) {
			t.Error("it is not marked")
		}
	}
	if err := os.Truncate(filepath.Join(folder, file), 20); err != nil {
		t.Fatal(err)
	}
	if Put(folder); !Is(folder) {
		t.Error("a tag cut short is not written again")
	}
	if err := os.WriteFile(filepath.Join(other, "CACHEDIR.TAG"), []byte(signature), 0o666); err != nil {
		t.Fatal(err)
	}
	if Put(other); Is(other) {
		t.Error("others' tag is replaced")
	}
}
