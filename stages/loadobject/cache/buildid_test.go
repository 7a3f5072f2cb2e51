package cache

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Copies are found in all the ways in which tools store them by build-id.
func TestStored(t *testing.T) {
	root, older := t.TempDir(), t.TempDir()
	content := "x"
	put := func(path string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, path string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(root, "usr/bin/p/abcdef/elf"))
	put(filepath.Join(root, "usr/bin/p/abcdef/probes"))
	link("../../usr/bin/p/abcdef", filepath.Join(root, ".build-id/ab/cdef"))
	put(filepath.Join(root, "[vdso]/0102/vdso"))
	link("../../[vdso]/0102", filepath.Join(root, ".build-id/01/02"))
	put(filepath.Join(root, ".build-id/03/04/kallsyms"))
	put(filepath.Join(older, "usr/bin/p/abcdef"))
	link("../../usr/bin/p/abcdef", filepath.Join(older, ".build-id/ab/cdef"))
	put(filepath.Join(older, ".build-id/05/06.debug"))
	link("../../gone", filepath.Join(older, ".build-id/07/08"))
	put(filepath.Join(older, "090a/executable")) // debuginfod's
	content = ""
	put(filepath.Join(older, "0b0c/executable")) // no server has it

	for id, want := range map[string][]string{
		"abcdef": {filepath.Join(root, ".build-id/ab/cdef/elf"), filepath.Join(older, ".build-id/ab/cdef")},
		"0102":   {filepath.Join(root, ".build-id/01/02/vdso")},
		"0304":   {filepath.Join(root, ".build-id/03/04/kallsyms")},
		"0506":   nil, // has no code
		"0708":   nil,
		"090a":   {filepath.Join(older, "090a/executable")},
		"0b0c":   nil,
		"ab":     nil,
		"":       nil,
	} {
		if d := cmp.Diff(want, Stored([]string{root, filepath.Join(root, "none"), older}, id)); d != "" {
			t.Errorf("%q: %s", id, d)
		}
	}
}
