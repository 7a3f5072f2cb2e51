// Package testfiles lists files for tests, and fails if a list is empty: a test that loops over an
// empty list passes, and a list becomes empty when a folder is renamed.
package testfiles

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Glob returns the files that match the patterns, in order of the patterns. It fails if a pattern
// matches none.
func Glob(t testing.TB, patterns ...string) (files []string) {
	t.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	return files
}

// Sources returns the Go files of folders, without tests. It fails if a folder has none.
func Sources(t testing.TB, folders ...string) (files []string) {
	t.Helper()
	for _, folder := range folders {
		found := Glob(t, filepath.Join(folder, "*.go"))
		found = slices.DeleteFunc(found, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
		if len(found) == 0 {
			t.Fatalf("%s has only tests", folder)
		}
		files = append(files, found...)
	}
	return files
}
