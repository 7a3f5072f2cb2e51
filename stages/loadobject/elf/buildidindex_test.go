package elf

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A file that lies directly in a folder is found by its build-id, whatever its name, even if it was
// added later; a debug file does not count as a load object.
func TestInFolder(t *testing.T) {
	dir := t.TempDir()
	run := func(name string, args ...string) {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "p.c"), []byte("int main(void) { return 0; }"), 0o644); err != nil {
		t.Fatal(err)
	}
	const id = "0123456789abcdef0123456789abcdef01234567"
	run("gcc", "-g", "-Wl,--build-id=0x"+id, "-o", "program", "p.c")
	names := func(debug bool) (list []string) {
		for _, path := range FilesByBuildID(dir, id, debug) {
			list = append(list, filepath.Base(path))
		}
		return list
	}
	if d := cmp.Diff([]string{"program"}, names(true)); d != "" {
		t.Error(d)
	}
	run("objcopy", "--only-keep-debug", "program", "any-name.dbg")
	if d := cmp.Diff([]string{"any-name.dbg", "program"}, names(true)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"program"}, names(false)); d != "" {
		t.Error(d)
	}
	if list := FilesByBuildID(filepath.Join(dir, "none"), id, true); list != nil {
		t.Error(list)
	}
	if list := FilesByBuildID(dir, "", true); list != nil {
		t.Error(list)
	}
}
