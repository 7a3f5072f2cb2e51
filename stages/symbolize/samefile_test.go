package symbolize

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"stackmill/stages/symbolize/image"
	"stackmill/stages/symbolize/symtab"
)

// A library that is mapped by two paths, or recorded with a build-id and without,
// is one: its functions are in no list twice. A copy is another.
func TestSameFile(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	library, linked, copied := filepath.Join(dir, "usr/lib/libc.so.6"), filepath.Join(dir, "lib/libc.so.6"), filepath.Join(dir, "copy/libc.so.6")
	err = errors.Join(os.MkdirAll(filepath.Dir(library), 0o755), os.MkdirAll(filepath.Dir(copied), 0o755),
		os.Symlink("usr/lib", filepath.Join(dir, "lib")), os.WriteFile(library, nil, 0o644), os.WriteFile(copied, nil, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	build := program("aa", symtab.Function{Name: "strdup"})
	r, _ := recording(disk{library: build, linked: build, copied: build})
	identified := text(library, 0x4000000)
	identified.BuildID = "aa"
	pr := process(r, text(library, 0x1000000), text(linked, 0x2000000), text(copied, 0x3000000), identified)
	function := func(pc uint64) int32 { return r.Program.Locations[pr.Resolve(pc, 0).Location].Function }
	first := function(0x1000010)
	if function(0x2000010) != first || function(0x4000010) != first {
		t.Error("one file has a function twice")
	}
	if function(0x3000010) == first {
		t.Error("a copy is the same")
	}
	ids := map[int64]bool{}
	pr.Segments(func(_ *image.Mapping, object int64) { ids[object] = true })
	if len(ids) != 2 {
		t.Errorf("%d load objects", len(ids))
	}
}
