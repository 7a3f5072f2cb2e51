package symbolize

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/symbolize/image"
)

// A library is one object, so that no list has its functions twice, if it is mapped by two paths,
// recorded with and without a build-id, copied (with its build-id), or gone. A copy of a library
// without a build-id is another object.
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
	build := tableOf("aa", symtab.Function{Name: "strdup"})
	bare := tableOf("", symtab.Function{Name: "strdup"})
	old, other := filepath.Join(dir, "usr/lib/libold.so"), filepath.Join(dir, "copy/libold.so")
	if err := errors.Join(os.WriteFile(old, nil, 0o644), os.WriteFile(other, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	r, _ := recording(tableMap{library: build, linked: build, copied: build, old: bare, other: bare})
	identified, gone := text(library, 0x4000000), text("/gone/libc.so.6", 0x5000000)
	identified.BuildID, gone.BuildID = "aa", "aa"
	pr := process(r, text(library, 0x1000000), text(linked, 0x2000000), text(copied, 0x3000000), identified, gone,
		text(old, 0x6000000), text(other, 0x7000000))
	function := func(pc uint64) program.FunctionNo { return r.Program.Location(pr.Resolve(pc, 0).Location).Function }
	first := function(0x1000010)
	for _, pc := range []uint64{0x2000010, 0x3000010, 0x4000010, 0x5000010} {
		if function(pc) != first {
			t.Errorf("%#x: one build has a function twice", pc)
		}
	}
	if function(0x6000010) == function(0x7000010) {
		t.Error("files without a build-id are the same by their names")
	}
	ids := map[int64]bool{}
	pr.Segments(func(_ *image.Mapping, object int64) { ids[object] = true })
	if len(ids) != 3 {
		t.Errorf("%d load objects", len(ids))
	}
}
