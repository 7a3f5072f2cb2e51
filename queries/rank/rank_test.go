package rank

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/aclements/go-moremath/stats"
)

// TestRanks compares the test of ranks with another implementation of it.
func TestRanks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(n int, shift float64, ties bool) []float64 {
		values := make([]float64, n)
		for i := range values {
			if values[i] = random.NormFloat64() + shift; ties {
				values[i] = math.Round(2 * values[i])
			}
		}
		return values
	}
	stats.MannWhitneyTiesExactLimit = exactTies
	u := &Test{}
	for _, size := range [][2]int{{2, 2}, {3, 5}, {4, 4}, {7, 7}, {12, 12}, {20, 20}, {40, 31}, {60, 55}} {
		for range 20 {
			for _, ties := range []bool{false, true} {
				if ties && size[0] != size[1] && size[0] <= exactTies {
					continue // the other implementation takes an asymmetric distribution for symmetric
				}
				x, y := draw(size[0], 0, ties), draw(size[1], 0.5, ties)
				want, err := stats.MannWhitneyUTest(x, y, stats.LocationDiffers)
				if err != nil {
					continue // all values are equal
				}
				if got := u.P(x, y); math.Abs(got-math.Min(1, want.P)) > 1e-9 {
					t.Errorf("%d and %d values, ties %v: p is %v, want %v", size[0], size[1], ties, got, want.P)
				}
			}
		}
	}
	if got := u.P([]float64{1, 1, 1}, []float64{1, 1, 1}); got != 1 {
		t.Errorf("equal values: p is %v", got)
	}
	if got, want := Smallest(3, 3), u.P([]float64{1, 2, 3}, []float64{4, 5, 6}); math.Abs(got-want) > 1e-12 {
		t.Errorf("smallest p of 3 and 3: %v, want %v", got, want)
	}
}

// TestRatioInterval counts how often intervals have the true ratio.
func TestRatioInterval(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	u := &Test{}
	for _, n := range []int{4, 10, 25, 60} {
		const draws = 400
		right := 0
		for range draws {
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = 100*math.Exp(0.1*random.NormFloat64()), 110*math.Exp(0.1*random.NormFloat64())
			}
			if low, high := u.RatioInterval(x, y, 0.95); low <= 1.1 && 1.1 <= high {
				right++
			}
		}
		if right < draws*93/100 {
			t.Errorf("%d runs: %d of %d intervals have the ratio", n, right, draws)
		}
	}
	if low, high := u.RatioInterval([]float64{1, 2}, []float64{3, 4}, 0.95); low != 0 || !math.IsInf(high, 1) {
		t.Errorf("two runs: from %v to %v", low, high)
	}
	if low, high := u.RatioInterval([]float64{2, 2, 2, 2, 2}, []float64{3, 3, 3, 3, 3}, 0.95); math.Abs(low-1.5)+math.Abs(high-1.5) > 1e-9 {
		t.Errorf("constant values: from %v to %v", low, high)
	}
	if low, high := u.RatioInterval([]float64{0, 0, 0, 0, 0}, []float64{0, 0, 0, 0, 1}, 0.95); low != 0 || !math.IsInf(high, 1) {
		t.Errorf("zeros: from %v to %v", low, high)
	}
}
