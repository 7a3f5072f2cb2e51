package spill

import (
	"math"
	"os"
	"path/filepath"
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
		for i := range n {
			if err := stream.Append(number(i)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			if v, err := stream.Next(); err != nil || v != number(i) {
				t.Fatalf("memory %d: number %d is %d, want %d, %v", memory, i, v, number(i), err)
			}
		}
		if v, err := stream.Next(); v != 0 || err != nil {
			t.Errorf("after the end: %d, %v", v, err)
		}
		if used := s.file != nil; used != (memory < math.MaxInt64) {
			t.Errorf("memory %d: a file is used: %t", memory, used)
		}
	}
}
