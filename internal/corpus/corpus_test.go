package corpus

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDir(t *testing.T) {
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	})
	for pattern, want := range map[string]int{
		"exp/*.er":                    34,
		"damaged/d_*.er":              18,
		"golden/*/functions.user.txt": 33,
		"golden/damaged/d_*.txt":      18,
	} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(found) != want {
			t.Errorf("%s: %d files, want %d (%v)", pattern, len(found), want, err)
		}
	}
}

func TestPerf(t *testing.T) {
	dir := t.TempDir()
	if err := Perf(dir); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]int{"perf/*.data": 40, "golden/*/script.txt": 40} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(found) != want {
			t.Errorf("%s: %d files, want %d (%v)", pattern, len(found), want, err)
		}
	}
}
