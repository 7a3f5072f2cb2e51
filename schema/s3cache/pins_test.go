package s3cache

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"stackmill/schema/storedir"
)

// Files stay pinned until their process ends or forgets them.
func TestUses(t *testing.T) {
	dir := t.TempDir()
	mine, err := newPinList(dir)
	if err != nil {
		t.Fatal(err)
	}
	other, err := newPinList(dir)
	if err != nil {
		t.Fatal(err)
	}
	needed := func(want ...string) {
		t.Helper()
		all, err := mine.all()
		if got := slices.Sorted(maps.Keys(all)); err != nil || !slices.Equal(got, want) {
			t.Errorf("needed: %v, %v, want %v", got, err, want)
		}
	}
	if err := mine.add([]storedir.File{{Path: "a"}, {Path: "b"}}); err != nil {
		t.Fatal(err)
	}
	if err := other.add([]storedir.File{{Path: "b"}, {Path: "c"}}); err != nil {
		t.Fatal(err)
	}
	needed("a", "b", "c")
	if err := mine.forget(func(file string) bool { return strings.Contains("ab", file) }); err != nil {
		t.Fatal(err)
	}
	needed("b", "c")
	if err := mine.add([]storedir.File{{Path: "d"}}); err != nil {
		t.Fatal(err)
	}
	needed("b", "c", "d")
	if err := other.file.Close(); err != nil { // the end of a process does the same
		t.Fatal(err)
	}
	needed("d")
}
