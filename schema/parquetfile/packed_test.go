package parquetfile

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Long runs are found wherever they begin and end, and shorter ones are not.
func TestLongRun(t *testing.T) {
	found := 0
	for range 2000 {
		var values []int32
		type run struct{ from, end int }
		var long []run
		for v := int32(0); len(values) < 400; v++ {
			from, n := len(values), 1+rand.IntN(2*shortestRun)
			if values = append(values, slices.Repeat([]int32{v}, n)...); n >= shortestRun {
				long = append(long, run{from, len(values)})
			}
		}
		i := 0
		for _, want := range append(long, run{len(values), len(values)}) {
			from, end := longRun(values, i)
			if from != want.from || end != want.end {
				t.Fatalf("from %d on a run of %d to %d, want %+v: %d", i, from, end, want, values)
			}
			i = end
			found++
		}
	}
	if found < 4000 {
		t.Errorf("%d runs", found)
	}
}
