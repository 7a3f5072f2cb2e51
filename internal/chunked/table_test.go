//go:build linux

package chunked

import (
	"os"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// All pages of a table are resident from the start, and all its values are zero.
func TestPlaces(t *testing.T) {
	const size = 64 << 20 // more than other tests have left free in the heap
	places := MakeTable[uint64](size / 8)
	page := os.Getpagesize()
	resident := make([]byte, size/page)
	start := uintptr(unsafe.Pointer(&places[0]))
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, start, size, uintptr(unsafe.Pointer(&resident[0]))); errno != 0 {
		t.Fatal(errno)
	}
	if missing := slices.IndexFunc(resident, func(is byte) bool { return is&1 == 0 }); missing >= 0 {
		t.Errorf("page %d of %d is not there", missing, len(resident))
	}
	if len(places) != size/8 || slices.ContainsFunc(places, func(v uint64) bool { return v != 0 }) {
		t.Errorf("%d values, or some that are not zero", len(places))
	}
}
