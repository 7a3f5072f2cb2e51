package serve

import (
	"testing"
	"time"
)

// A heat map of a long time has longer columns, of which all can be seen; one of a short time has shorter ones. Cells
// of a column are equally long, and columns are whole.
func TestHeatColumns(t *testing.T) {
	for _, of := range []struct {
		span, asked, want time.Duration
		coarser           bool
	}{
		{77 * time.Second, 0, time.Second, false},
		{299 * time.Second, 0, time.Second, false},
		{301 * time.Second, 0, 10 * time.Second, false},
		{24 * time.Hour, 0, 10 * time.Minute, false},
		{24 * time.Hour, time.Second, 10 * time.Minute, true},
		{24 * time.Hour, time.Hour, time.Hour, false},
		{365 * 24 * time.Hour, 0, 10 * 24 * time.Hour, false},
		{1500 * time.Millisecond, 0, 100 * time.Millisecond, false},
		{3 * time.Millisecond, 0, time.Millisecond, false},
		{20 * time.Second, 100 * time.Millisecond, 100 * time.Millisecond, false},
	} {
		for _, start := range []int64{0, -1500, int64(of.span / 3)} {
			h := &heatMap{Start: start, End: start + int64(of.span), From: -1 << 63, Until: 1<<63 - 1, Cells: 50}
			h.divide(int64(of.asked), heatColumns)
			if want := of.want; start <= 0 && (h.Column != int64(want) || h.Coarser != of.coarser) && !(start < 0 && of.span >= 299*time.Second) {
				t.Errorf("%v from %d: columns of %v, %v, want %v", of.span, start, time.Duration(h.Column), h.Coarser, want)
			}
			if h.Columns > heatColumns || h.Columns < 1 || h.From > start || h.Until < h.End || h.From%h.Column != 0 || h.Column%h.Cells != 0 {
				t.Errorf("%v from %d: %+v", of.span, start, h)
			}
		}
	}
}

// Groups by package follow the names of functions in Go, C++, Rust and C.
func TestPackageOf(t *testing.T) {
	for name, want := range map[string]string{
		"runtime.mallocgc": "runtime", "cmd/compile/internal/ssa.(*Func).NewBlock": "cmd/compile/internal/ssa", "main.main.func1": "main",
		"slices.SortFunc[go.shape.[]int,go.shape.int]": "slices", "internal/runtime/syscall/linux.Syscall6": "internal/runtime/syscall/linux",
		"std::vector<int, std::allocator<int> >::push_back(int const&)": "std", "void std::sort<int*>(int*, int*)": "std",
		"(anonymous namespace)::walk(Node*)": "(anonymous namespace)", "alloc::vec::Vec<T>::push": "alloc",
		"<core::str::Chars as core::iter::Iterator>::next": "core", "<&mut W as core::fmt::Write>::write_str": "",
		"do_execveat_common [clone .isra.0]": "", "main": "", "operator new(unsigned long)": "", "": "", "memcpy@plt": "",
	} {
		if got := packageOf(name); got != want {
			t.Errorf("%q is of package %q, want %q", name, got, want)
		}
	}
}

// The intervals of a timeline are 1, 2 or 5 times a power of ten long, and there are at most as many as asked.
func TestRoundWidth(t *testing.T) {
	for _, of := range []struct{ span, n, want int64 }{
		{20_805_580_077, 240, 100_000_000}, {24_000_000_000, 240, 100_000_000}, {24_000_000_001, 240, 200_000_000}, {1, 240, 1}, {240, 240, 1}, {241, 240, 2},
		{86_400_000_000_000, 240, 500_000_000_000}, {1 << 60, 1, 5_000_000_000_000_000_000}, {1 << 60, 240, 5_000_000_000_000_000},
	} {
		if got := roundWidth(of.span, int(of.n)); got != of.want {
			t.Errorf("%d in %d: %d, want %d", of.span, of.n, got, of.want)
		}
	}
}
