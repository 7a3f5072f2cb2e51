// Package testfiles lists files for tests. A test that loops over a list passes if the list is
// empty, which it becomes when a folder is renamed: here, that is an error.
package testfiles

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Glob returns the files that the patterns match, in the order of the patterns. It fails if one
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

// Sources returns the Go files of folders without their tests. It fails if a folder has none.
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
