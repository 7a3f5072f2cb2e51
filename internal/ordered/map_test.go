package ordered

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// squares fills results with the squares of their numbers.
func squares(worker, number int, to *[]int) { *to = append((*to)[:0], number*number) }

// Results are taken in the order of their numbers, whichever worker fills them.
func TestMap(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 100} {
		for _, workers := range []int{1, 2, 7} {
			var got, want []int
			for i := range n {
				want = append(want, i*i)
			}
			Map(workers, n, squares, func(square *[]int) bool {
				got = append(got, *square...)
				return true
			})
			if !slices.Equal(got, want) {
				t.Errorf("%d of %d workers: %v", n, workers, got)
			}
		}
	}
}

// ended waits until no more goroutines run than before.
func ended(before int) bool {
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// Goroutines end when the caller wants no more results.
func TestMapLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	taken := 0
	Map(3, 1000, squares, func(*[]int) bool { taken++; return taken < 5 })
	if taken != 5 || !ended(before) {
		t.Error(taken, runtime.NumGoroutine(), before)
	}
}

// A page fault reaches the caller as the runtime's own error.
func TestMapPageFault(t *testing.T) {
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(page)
	defer func() {
		fault, ok := recover().(interface{ Addr() uintptr })
		if !ok || fault.Addr() != uintptr(unsafe.Pointer(&page[7])) {
			t.Error(fault)
		}
	}()
	Map(1, 3, func(_, number int, to *byte) { *to = page[7] }, func(*byte) bool { return true })
}

// A worker's panic reaches the caller once all results before it were taken.
func TestMapPanics(t *testing.T) {
	for _, tt := range []struct{ value, want any }{
		{"mistake", "*ordered.Panic internal error: mistake; please report it with its input"},
		{&Panic{Value: "deeper"}, "*ordered.Panic internal error: deeper; please report it with its input"},
	} {
		before, taken := runtime.NumGoroutine(), 0
		got := func() (p any) {
			defer func() { p = recover() }()
			Map(2, 100, func(_, number int, _ *int) {
				if number >= 8 {
					panic(tt.value)
				}
			}, func(*int) bool { taken++; return true })
			return nil
		}()
		if text := fmt.Sprintf("%T %v", got, got); text != tt.want || taken != 8 || !ended(before) {
			t.Error(text, taken, runtime.NumGoroutine(), before)
		}
	}
}
