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

// Symbols without a type are functions, unless a function covers them or they are labels in one;
// their sizes equal the assembler's listing. Code without a symbol is a static region after
// start_of_frames, because call frame information begins a function there, and part of spin_7 where
// nothing begins one (S3).
func TestAssembler(t *testing.T) {
	want := []string{
		"opening 1", "spin_2 13", "spin_3 22", "spin_4 25", "spin_5 13", "spin_6 13",
		"start_of_frames 1", "spin_7 48", "_start 59", "static_8 13", "spin_9 1",
	}
	if diff := cmp.Diff(want, ranges(t, "testdata/assembler")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// If functions that are not exported have lost their symbols, a function without a size does not
// take their text, which becomes a static region (S6). A system call that never returns looks like
// any other: _start takes static_8.
func TestStrippedAssembler(t *testing.T) {
	want := []string{"spin_2 13", "spin_4 25", "spin_5 13", "spin_6 13", "start_of_frames 1", "spin_7 31", "_start 72", "spin_9 1"}
	if diff := cmp.Diff(want, ranges(t, "testdata/libassembler.so")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
