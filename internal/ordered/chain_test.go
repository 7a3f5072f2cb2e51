package ordered

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// counting returns a step that puts the numbers of results into them.
func counting() func(*int) {
	next := 0
	return func(to *int) { *to = next; next++ }
}

func double(x *int) { *x *= 2 }

// Results pass all steps in order of their numbers, even with fewer processors than steps.
func TestChain(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for processors := 1; processors <= 4; processors++ {
		runtime.GOMAXPROCS(processors)
		testChain(t)
	}
}

func testChain(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 100} {
		for steps := range 4 {
			var got, want []int
			for i := range n {
				want = append(want, i<<steps)
			}
			list := append([]func(*int){counting()}, slices.Repeat([]func(*int){double}, steps)...)
			Chain(n, 2, list, func(x *int) bool {
				got = append(got, *x)
				return true
			})
			if !slices.Equal(got, want) {
				t.Errorf("%d through %d steps: %v", n, steps, got)
			}
		}
	}
}

// Goroutines end when the caller wants no more results.
func TestChainLeft(t *testing.T) {
	before, taken := runtime.NumGoroutine(), 0
	Chain(1000, 2, []func(*int){counting(), double}, func(*int) bool { taken++; return taken < 5 })
	if taken != 5 || !ended(before) {
		t.Error(taken, runtime.NumGoroutine(), before)
	}
}

// A step's panic reaches the caller once all results before it were taken.
func TestChainPanics(t *testing.T) {
	mistaken := func(x *int) {
		if *x >= 8 {
			panic("mistake")
		}
	}
	for name, steps := range map[string][]func(*int){
		"first":  {func() func(*int) { count := counting(); return func(x *int) { count(x); mistaken(x) } }(), double},
		"second": {counting(), mistaken, double},
		"last":   {counting(), func(*int) {}, mistaken},
	} {
		before, taken := runtime.NumGoroutine(), 0
		got := func() (p any) {
			defer func() { p = recover() }()
			Chain(100, 2, steps, func(*int) bool { taken++; return true })
			return nil
		}()
		if text := fmt.Sprintf("%T %v", got, got); text != "*ordered.Panic internal error: mistake; please report it with its input" || taken != 8 || !ended(before) {
			t.Error(name, text, taken, runtime.NumGoroutine(), before)
		}
	}
}

// A page fault reaches the caller as the runtime's own error.
func TestChainPageFault(t *testing.T) {
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
	Chain(3, 2, []func(*byte){func(*byte) {}, func(to *byte) { *to = page[7] }}, func(*byte) bool { return true })
}
