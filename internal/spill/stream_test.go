package spill

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Numbers come back in their order, from memory and from a file.
func TestStream(t *testing.T) {
	const n = 200_000
	number := func(i int) int64 {
		switch i % 5 {
		case 0:
			return 0
		case 1:
			return math.MinInt64 + int64(i)
		}
		return int64(i) << (i % 40)
	}
	for _, memory := range []int64{0, 2 * streamBytes, math.MaxInt64} {
		s := New(memory, func() (File, error) { return os.Create(filepath.Join(t.TempDir(), "file")) })
		defer s.Close()
		stream := NewStream(s)
		var want []int64
		for i := range n {
			want = append(want, number(i))
		}
		for some := range slices.Chunk(want, 10_007) {
			if err := stream.Append(some); err != nil {
				t.Fatal(err)
			}
		}
		got := make([]int64, n+2)
		for some := range slices.Chunk(got, 9_973) {
			if err := stream.Read(some); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, append(want, 0, 0)) {
			t.Errorf("memory %d: other numbers come back", memory)
		}
		if used := s.file != nil; used != (memory < math.MaxInt64) {
			t.Errorf("memory %d: a file is used: %t", memory, used)
		}
	}
}
