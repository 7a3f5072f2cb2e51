package elf_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/elf/elftest"
)

// laid writes files below a new folder; it replaces @ in their names by the folder's name.
func laid(t *testing.T, files map[string][]byte) (place func(name string) string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	place = func(name string) string { return filepath.Join(root, strings.ReplaceAll(name, "@", root)) }
	for name, b := range files {
		var err error
		path := place(name)
		if target, link := strings.CutPrefix(string(b), "-> "); link {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(target, path))
		} else {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b, 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return place
}

// A debug link is followed from the copy's folder and from where the object was recorded, in gdb's
// order: next to the object, in .debug, below the roots.
func TestDebugLinkPlaces(t *testing.T) {
	var e elftest.File
	id := []byte{0xab, 0xcd, 0xef}
	debug := elftest.File{Sections: []elftest.Section{e.BuildID(id), {Name: ".debug_info", Data: content}}}.Bytes()
	wrong := elftest.File{Sections: []elftest.Section{e.BuildID([]byte{0xab, 0, 0})}}.Bytes()
	program := elftest.File{Sections: []elftest.Section{e.BuildID(id), e.DebugLink("prog.debug", 0)}}.Bytes()
	const copied = "e.er/archives/prog_123"
	for _, c := range []struct {
		name     string
		recorded string
		root     string
		files    map[string][]byte
		found    string
	}{
		{"beside the copy", "@/bin/prog", "", map[string][]byte{"e.er/archives/prog.debug": debug, "bin/prog.debug": debug}, "e.er/archives/prog.debug"},
		{"archived", "@/bin/prog", "", map[string][]byte{"e.er/archives/prog.debug_123": debug, "bin/prog.debug": debug}, "e.er/archives/prog.debug_123"},
		{"beside", "@/bin/prog", "", map[string][]byte{"bin/prog.debug": debug, "bin/.debug/prog.debug": debug}, "bin/prog.debug"},
		{"subfolder", "@/bin/prog", "", map[string][]byte{"bin/.debug/prog.debug": debug, "debug/@/bin/prog.debug": debug}, "bin/.debug/prog.debug"},
		{"another build beside", "@/bin/prog", "", map[string][]byte{"bin/prog.debug": wrong, "bin/.debug/prog.debug": debug}, "bin/.debug/prog.debug"},
		{"below a root", "@/bin/prog", "", map[string][]byte{"debug/@/bin/prog.debug": debug}, "debug/@/bin/prog.debug"},
		{"below the second root", "@/bin/prog", "", map[string][]byte{"debug2/@/bin/prog.debug": debug}, "debug2/@/bin/prog.debug"},
		{"the object is a link", "@/bin/prog", "", map[string][]byte{"bin/prog": []byte("-> ../opt/prog-1.2"), "opt/prog-1.2": program, "opt/prog.debug": debug}, "opt/prog.debug"},
		{"its folder is a link", "@/bin/prog", "", map[string][]byte{"bin": []byte("-> opt"), "opt/prog.debug": debug, "debug/@/opt/prog.debug": debug}, "bin/prog.debug"},
		{"its folder is a link, below a root", "@/bin/prog", "", map[string][]byte{"bin": []byte("-> opt"), "opt/x": nil, "debug/@/opt/prog.debug": debug}, "debug/@/opt/prog.debug"},
		{"moved", "/usr/bin/prog", "symfs", map[string][]byte{"symfs/usr/bin/prog.debug": debug}, "symfs/usr/bin/prog.debug"},
		{"moved, subfolder", "/usr/bin/prog", "symfs", map[string][]byte{"symfs/usr/bin/.debug/prog.debug": debug}, "symfs/usr/bin/.debug/prog.debug"},
		{"moved, below a root", "/usr/bin/prog", "symfs", map[string][]byte{"debug/usr/bin/prog.debug": debug}, "debug/usr/bin/prog.debug"},
		{"moved: not this machine's", "@/bin/prog", "symfs", map[string][]byte{"bin/prog.debug": debug}, ""},
		{"out of the root", "/../bin/prog", "symfs", map[string][]byte{"bin/prog.debug": debug, "symfs/x": nil}, ""},
		{"no path", "[vdso]", "", map[string][]byte{"bin/prog.debug": debug}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.files[copied] = program
			place := laid(t, c.files)
			f, err := elf.Open(place(copied))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			f.Search.Recorded = strings.Replace(c.recorded, "@", place(""), 1)
			if c.root != "" {
				f.Search.Root = place(c.root)
			}
			d, notes := elf.FindDebug(f, []string{place("debug"), place("debug2")})
			got := ""
			if d != nil {
				got = d.Path
				d.Close()
			}
			if want := place(c.found); c.found != "" && got != want || c.found == "" && got != "" {
				t.Errorf("found %q with notes %v, want %s", got, notes, want)
			}
		})
	}
}

// dwz's supplementary file is found by its path on the recorded machine, or by build-id.
func TestAlternatePlaces(t *testing.T) {
	var e elftest.File
	id := "\xab\xcd\xef"
	shared := elftest.File{Sections: []elftest.Section{e.BuildID([]byte(id))}}.Bytes()
	program := elftest.File{Sections: []elftest.Section{{Name: ".gnu_debugaltlink", Data: []byte("/usr/lib/debug/.dwz/p.debug\x00" + id)}}}.Bytes()
	for _, name := range []string{"symfs/usr/lib/debug/.dwz/p.debug", "debug/.build-id/ab/cdef.debug"} {
		place := laid(t, map[string][]byte{"bin/prog": program, name: shared})
		f, err := elf.Open(place("bin/prog"))
		if err != nil {
			t.Fatal(err)
		}
		f.Search = elf.SearchPaths{Root: place("symfs"), Dirs: []string{place("debug")}}
		alternate, err := f.Supplement()
		if err != nil || alternate.Path != place(name) {
			t.Errorf("%s: %v", name, err)
		} else {
			alternate.Close()
		}
		f.Close()
	}
}
