package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// few are builds that take a few seconds together.
var few = regexp.MustCompile(`^(calls_(gcc_O2_g_dwarf|gcc_O2_g_fno-omit-frame-pointer_static_fp|clang_O2_g_flto_fuse-ld-lld_dwarf)|golang_go_fp)$`)

// What stackmill shows of a few builds is exactly what the programs log.
func TestExact(t *testing.T) {
	for _, tool := range []string{"perf", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	if text, err := exec.Command("perf", "record", "-e", "page-faults:u", "-c", "1", "-m", "4096", "-o", filepath.Join(t.TempDir(), "data"), "true").CombinedOutput(); err != nil {
		t.Skipf("perf record: %v: %s", err, text)
	}
	var builds []*build
	for _, b := range chosen(few) {
		if err := b.available(); err != nil {
			t.Logf("%s: %v", b.name, err)
			continue
		}
		builds = append(builds, b)
	}
	out, err := os.MkdirTemp("", "stackmill-exact-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(out)
	findings, err := examine(context.Background(), out, builds)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Error(f)
	}
}
