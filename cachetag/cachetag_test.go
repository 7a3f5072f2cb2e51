package cachetag

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder is a cache once it is marked; one that others have marked is not this program's.
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
	const signature = "Signature: 8a477f597d28d172789f06886806bc55\n"
	if err := os.WriteFile(filepath.Join(other, "CACHEDIR.TAG"), []byte(signature), 0o666); err != nil {
		t.Fatal(err)
	}
	if Put(other); Is(other) {
		t.Error("others' tag is replaced")
	}
}
