package symtab_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ranges lists a table's functions with their sizes.
func ranges(t *testing.T, path string) []string {
	t.Helper()
	var list []string
	for f := range read(t, path).Functions.All() {
		list = append(list, fmt.Sprintf("%s %d", strings.ReplaceAll(f.Aliases, "\t", ","), f.Size))
	}
	return list
}

// Symbols without a type are functions unless one covers them or they are labels
// in one; the sizes are those of the assembler's listing. What has no symbol at all
// is the static region after start_of_frames, since call frame information begins
// a function there, but is taken by spin_7, where nothing does (S3).
func TestAssembler(t *testing.T) {
	want := []string{
		"opening 1", "spin_2 13", "spin_3 22", "spin_4 25", "spin_5 13", "spin_6 13",
		"start_of_frames 1", "spin_7 48", "_start 59", "static_8 13", "spin_9 1",
	}
	if diff := cmp.Diff(want, ranges(t, "testdata/assembler")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Where the symbols of functions that are not exported are gone, one without a
// size does not take theirs: their text is a static region of its own (S6). A
// system call that does not return looks like one that does: _start takes static_8.
func TestStrippedAssembler(t *testing.T) {
	want := []string{"spin_2 13", "spin_4 25", "spin_5 13", "spin_6 13", "start_of_frames 1", "spin_7 31", "_start 72", "spin_9 1"}
	if diff := cmp.Diff(want, ranges(t, "testdata/libassembler.so")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
