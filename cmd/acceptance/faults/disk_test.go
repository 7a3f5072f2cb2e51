package faults

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// If the disk gets full at any stage, only complete batches are committed, and with more space the
// next ingest adds the rest.
func TestFullDisk(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	store := dir + "/store"
	step := 700
	if *long {
		step = 16
	}
	for size := step; size <= 3072; size += step { // in KiB; most of the space is for the catalog
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%dk", size)); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("a disk of %d KiB", size)
		code, out := b.run(append([]string{b.binary}, b.ingest(store)...)...)
		if strings.Contains(out, "goroutine ") || code == 0 {
			t.Errorf("%s: exit status %d\n%s", what, code, out)
		}
		if code != 3 {
			injected.Add(1)
		}
		b.right(what, store)
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
			t.Fatal(err)
		}
		b.mended(what, store)
		if err := os.RemoveAll(store); err != nil {
			t.Fatal(err)
		}
	}
}
