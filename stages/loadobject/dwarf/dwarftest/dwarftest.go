// Package dwarftest makes load objects with debug information for tests.
package dwarftest

import (
	"os"
	"os/exec"
	"testing"

	"stackmill/stages/loadobject/elf"
)

// Run runs a compiler or another tool in a folder. It skips the test if the tool does not work.
func Run(t testing.TB, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=") // whose flags may leave debug information out
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%s %v: %v\n%s", name, args, err, out)
	}
}

// Open opens a load object until the test ends.
func Open(t testing.TB, path string) *elf.File {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Copy copies a load object.
func Copy(t testing.TB, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}
