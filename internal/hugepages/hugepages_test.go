//go:build linux && (amd64 || arm64) && !race && !msan && !asan

package hugepages

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// advised reports whether the kernel was asked to use huge pages at an address.
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

// The heap grows in huge pages up to the allowed size, and in small ones beyond.
func TestHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("the system has no huge pages: ", err)
	}
	const size = 1 << 30 // more than other tests have left free in the heap; the test touches none of it
	usual := make([]byte, size)
	Allow(2 * size)
	huge := make([]byte, size)
	Allow(0)
	for want, b := range map[bool][]byte{false: usual, true: huge} {
		if got := advised(t, uintptr(unsafe.Pointer(&b[size/2]))); got != want {
			t.Errorf("in huge pages: %v, not %v", got, want)
		}
	}
}
