package chunked

import (
	"math"
	"slices"
	"testing"
)

// Unpacked numbers equal the packed ones, which take no more bytes than their range needs.
func TestPacked(t *testing.T) {
	for _, test := range []struct {
		lists [][]int64
		bytes int // of all numbers
	}{
		{nil, 0},
		{[][]int64{{}, {7, 7}, {}, {7}}, 0},
		{[][]int64{{-1}, {254, 3}}, 3},
		{[][]int64{{}, {1 << 40, 1<<40 + 256}}, 4},
		{[][]int64{{-1 << 15, 1<<15 - 1}}, 4},
		{[][]int64{{5}, {5 + 1<<16}}, 8},
		{[][]int64{{math.MinInt32, math.MaxInt32}}, 8},
		{[][]int64{{math.MinInt64, math.MaxInt64, 0}}, 24},
		{[][]int64{{0, 1 << 32}}, 16},
	} {
		p := Pack(test.lists...)
		want := slices.Concat([]int64{9}, slices.Concat(test.lists...))
		if got := Unpack([]int64{9}, p); !slices.Equal(got, want) {
			t.Errorf("%v, not %v", got, want)
		}
		bytes := 0
		switch d := p.distances.(type) {
		case []uint8:
			bytes = len(d)
		case []uint16:
			bytes = 2 * len(d)
		case []uint32:
			bytes = 4 * len(d)
		case []uint64:
			bytes = 8 * len(d)
		}
		if bytes != test.bytes {
			t.Errorf("%v: %d bytes, not %d", test.lists, bytes, test.bytes)
		}
	}
	narrow := []int32{math.MinInt32, 0, math.MaxInt32, -1}
	if got := Unpack([]int32(nil), Pack(narrow[:1], narrow[1:])); !slices.Equal(got, narrow) {
		t.Errorf("%v, not %v", got, narrow)
	}
}
