package gprofngtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func content(t *testing.T) map[string]string {
	t.Helper()
	e := New(filepath.Join(t.TempDir(), "a.er"))
	e.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/a")
	e.Archive("/bin/a", []byte("elf"))
	d := e.Descendant("_f1", 5)
	for kind := range Kinds {
		d.Declare(kind, "")
		for i := range 3000 {
			d.Events(kind).Put(i%3, &Layouts[kind][0], Packet{Time: int64(i), Stack: d.Frame(uint64(i%7), 9), Text: "name"})
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, pattern := range []string{"*", "*/*"} {
		names, err := filepath.Glob(filepath.Join(e.Dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if b, err := os.ReadFile(name); err == nil {
				files[name[len(e.Dir):]] = string(b)
			}
		}
	}
	return files
}

func TestSameBytes(t *testing.T) {
	first := content(t)
	if len(first) < 10 {
		t.Errorf("%d files", len(first))
	}
	if d := cmp.Diff(first, content(t)); d != "" {
		t.Error(d)
	}
}

func TestErrors(t *testing.T) {
	e := New(filepath.Join(t.TempDir(), "a.er"))
	e.Frame(make([]uint64, blockSize/8)...)
	e.Frame(1)
	if err := e.Close(); err == nil {
		t.Error("a stack larger than a packet was written")
	}
	if err := New("/dev/null/a.er").Close(); err == nil {
		t.Error("an experiment was made where none can be")
	}
}
