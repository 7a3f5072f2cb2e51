package rank

import (
	"math"
	"testing"
)

// TestMiddle checks that runs that lack a function count as 0, and that outliers of a night are left
// out.
func TestMiddle(t *testing.T) {
	for _, of := range []struct {
		values []float64
		runs   int
		want   float64
	}{{[]float64{1, 2, 3, 4, 100}, 5, 3}, {[]float64{3, 3, 3}, 5, 2}, {[]float64{4, 2}, 2, 3}, {[]float64{4}, 2, 2}} {
		sum, least, most := 0.0, math.Inf(1), 0.0
		for _, v := range of.values {
			sum, least, most = sum+v, min(least, v), max(most, v)
		}
		if got := Middle(sum, least, most, len(of.values), of.runs); got != of.want {
			t.Errorf("%v of %d runs: %v, want %v", of.values, of.runs, got, of.want)
		}
	}
}
