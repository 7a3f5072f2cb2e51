//go:build linux && (amd64 || arm64) && !race && !msan && !asan

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// advised reports whether the memory at an address may be in huge pages.
func advised(t *testing.T, address uintptr) bool {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	within := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, end uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &end); n == 2 {
			within = from <= address && address < end
		}
		if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); ok && within {
			return strings.Contains(flags, " hg")
		}
	}
	return false
}

// The heap grows in huge pages while it may, and in small ones otherwise.
func TestHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("the system has no huge pages: ", err)
	}
	const size = 1 << 30 // more than other tests have left free in the heap; none of it is touched
	usual := make([]byte, size)
	hugePages(2 * size)
	huge := make([]byte, size)
	hugePages(0)
	for want, b := range map[bool][]byte{false: usual, true: huge} {
		if got := advised(t, uintptr(unsafe.Pointer(&b[size/2]))); got != want {
			t.Errorf("in huge pages: %v, not %v", got, want)
		}
	}
}

// resident is how many bytes of a slice are in memory.
func resident(t *testing.T, b []byte) (n int) {
	page := os.Getpagesize()
	in := make([]byte, len(b)/page)
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(in)*page), uintptr(unsafe.Pointer(&in[0]))); errno != 0 {
		t.Fatal(errno)
	}
	for _, is := range in {
		n += int(is&1) * page
	}
	return n
}

// What the heap has grown by is made before it is used: in a process of its own, where nothing
// has been freed. In one of several, since it is made until the heap grows again, which it may
// do at once.
func TestPopulated(t *testing.T) {
	if os.Getenv("STACKMILL_TEST_HEAP") == "" {
		var out []byte
		err := errors.New("not run")
		for i := 0; i < 10 && err != nil; i++ {
			alone := exec.Command(os.Args[0], "-test.run=^TestPopulated$")
			alone.Env = append(os.Environ(), "STACKMILL_TEST_HEAP=1")
			out, err = alone.CombinedOutput()
		}
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	const size = 48 << 20
	hugePages(1 << 40)
	b := make([]byte, size)
	for range 200 {
		if resident(t, b) > size/2 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d bytes of %d are there", resident(t, b), size)
}
