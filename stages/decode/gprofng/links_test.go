package gprofng_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/gprofng"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// full composes an experiment that has every file.
func full(t *testing.T) *gprofngtest.Experiment {
	e := newExperiment(t)
	e.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/a")
	stack := e.Frame(0x1010)
	for kind := range gprofngtest.Kinds {
		e.Declare(schema.Kind(kind), `ptimer="10000" numstates="1"`)
		e.Events(schema.Kind(kind)).Put(0, &gprofngtest.Layouts[kind][0], gprofngtest.Packet{Thread: 7, Time: 5, Stack: stack, Values: []int64{1, 1}})
	}
	e.Class(1, "La;", "a.java")
	e.Overview(0, nil, nil)
	e.Overview(9, nil, nil)
	e.WriteFile("dyntext", nil)
	e.WriteFile("warnings.xml", nil)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return e
}

// Whatever is in the place of a file, reading ends, and a problem reports it.
func TestSpecialFiles(t *testing.T) {
	e := full(t)
	entries, err := os.ReadDir(e.Dir)
	if err != nil || len(entries) < 15 {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	outside := write(t, filepath.Join(t.TempDir(), "outside"), "text")
	for _, entry := range entries {
		name, path := entry.Name(), filepath.Join(e.Dir, entry.Name())
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for what, put := range map[string]func() error{
			"pipe":   func() error { return unix.Mkfifo(path, 0o600) },
			"zero":   func() error { return os.Symlink("/dev/zero", path) },
			"stdin":  func() error { return os.Symlink("/dev/stdin", path) },
			"loop":   func() error { return os.Symlink(name, path) },
			"folder": func() error { return os.Mkdir(path, 0o700) },
			"out":    func() error { return os.Symlink(outside, path) },
			"above":  func() error { return os.Symlink("../../outside", path) },
			"socket": func() error {
				l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
				if err != nil {
					return err
				}
				l.SetUnlinkOnClose(false)
				return l.Close()
			},
		} {
			if err := errors.Join(os.Remove(path), put()); err != nil {
				t.Fatal(err)
			}
			rec := open(t, e.Dir)
			got := reasons(rec, diagnostic.Error)
			// A link to nowhere is a missing file.
			if want := name + ":unreadable"; what != "above" && !slices.Contains(got, want) {
				t.Errorf("a %s in place of %s: %v", what, name, got)
			}
			for _, p := range rec.Problems.Problems {
				if strings.Contains(p.Message, filepath.Dir(e.Dir)) {
					t.Errorf("the problem says where the recording lies: %v", p)
				}
			}
			if files, err := gprofng.New().Files(e.Dir); err != nil || slices.Contains(files, name) {
				t.Errorf("a %s in place of %s is among the files: %v", what, name, err)
			}
		}
		if err := errors.Join(os.Remove(path), os.WriteFile(path, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	wantReasons(t, open(t, e.Dir), diagnostic.Error)
}

// Links are followed inside of a recording, and from its archives to a common archive.
func TestLinks(t *testing.T) {
	e := newExperiment(t)
	e.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/a")
	e.Declare(schema.Heap, "")
	e.Events(schema.Heap).Put(0, &gprofngtest.Layouts[schema.Heap][0], gprofngtest.Packet{Thread: 7, Time: 5, Stack: e.Frame(0x1010), Values: []int64{0, 1}})
	d := e.Descendant("_f1", 10)
	d.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/a")
	d.Declare(schema.Heap, "")
	d.Events(schema.Heap).Put(0, &gprofngtest.Layouts[schema.Heap][0], gprofngtest.Packet{Thread: 7, Time: 5, Stack: d.Frame(0x1010), Values: []int64{0, 1}})
	for _, name := range []string{"/x/lib1.so", "/x/lib2.so", "/x/lib3.so"} {
		e.Archive(name, []byte(name))
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	common := t.TempDir()
	write(t, common+"/4711_lib1.so", "common")
	write(t, common+"/private", "secret")
	write(t, common+"/elsewhere.er/log.xml", "")
	archived := func(name string) string {
		found, err := filepath.Glob(e.Dir + "/archives/" + name + "_*")
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		return found[0]
	}
	link := func(to, path string) {
		if err := errors.Join(os.RemoveAll(path), os.Symlink(to, path)); err != nil {
			t.Fatal(err)
		}
	}
	link(common+"/4711_lib1.so", archived("lib1.so"))
	link(common+"/private", archived("lib2.so"))
	link("../map.xml", archived("lib3.so"))
	link("../map.xml", d.Dir+"/map.xml")
	link(common+"/elsewhere.er", e.Dir+"/_f2.er")

	rec := open(t, e.Dir)
	if len(rec.Processes) != 2 || len(rec.Processes[1].Mappings) != 1 {
		t.Errorf("%d processes", len(rec.Processes))
	}
	lost := "archives/" + filepath.Base(archived("lib2.so"))
	wantReasons(t, rec, diagnostic.Warning, "_f2.er/log.xml:unreadable", "_f2.er/log.xml:missing-file", lost+":link-leads-out")
	for name, want := range map[string]string{"/x/lib1.so": "common", "/x/lib2.so": "", "/x/lib3.so": "map"} {
		found := rec.Locate(name)
		if len(found) > 0 != (want != "") {
			t.Errorf("%s: %v", name, found)
		}
		if want == "common" {
			if b, err := os.ReadFile(found[0].Path); err != nil || string(b) != want {
				t.Errorf("%s: %q, %v", name, b, err)
			}
		}
	}
	files, err := gprofng.New().Files(e.Dir)
	if err != nil || slices.Contains(files, lost) || !slices.Contains(files, "_f1.er/map.xml") || !slices.Contains(files, "archives/"+filepath.Base(archived("lib1.so"))) {
		t.Errorf("%v, %v", files, err)
	}

	// A descendant opened by itself belongs to its founder's folder.
	if alone := open(t, d.Dir); len(alone.Locate("/x/lib1.so")) != 1 || len(reasons(alone, diagnostic.Error)) != 0 {
		t.Errorf("%v", alone.Problems.Problems)
	}
	link(common, e.Dir+"/archives")
	if got := reasons(open(t, e.Dir), diagnostic.Warning); !slices.Contains(got, "archives:link-leads-out") {
		t.Errorf("%v", got)
	}
}

// A recorded path that is relative finds no file.
func TestRelativeObjects(t *testing.T) {
	e := newExperiment(t)
	rec := build(t, e)
	dir := t.TempDir()
	write(t, dir+"/secret", "x")
	write(t, dir+"/here/x", "x")
	t.Chdir(dir + "/here")
	for _, name := range []string{"../secret", "x", "./x", "", "..", "/..", "/"} {
		if found := rec.Locate(name); len(found) > 0 {
			t.Errorf("%q: %v", name, found)
		}
	}
}
