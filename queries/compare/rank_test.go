package compare

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
	u := &ranks{}
	for _, size := range [][2]int{{2, 2}, {3, 5}, {4, 4}, {7, 7}, {12, 12}, {20, 20}, {40, 31}, {60, 55}} {
		for range 20 {
			for _, ties := range []bool{false, true} {
				if ties && size[0] != size[1] && size[0] <= exactTies {
					continue // the other takes a distribution for symmetric that is not
				}
				x, y := draw(size[0], 0, ties), draw(size[1], 0.5, ties)
				want, err := stats.MannWhitneyUTest(x, y, stats.LocationDiffers)
				if err != nil {
					continue // all values are equal
				}
				if got := u.p(x, y); math.Abs(got-math.Min(1, want.P)) > 1e-9 {
					t.Errorf("%d and %d values, ties %v: p is %v, want %v", size[0], size[1], ties, got, want.P)
				}
			}
		}
	}
	if got := u.p([]float64{1, 1, 1}, []float64{1, 1, 1}); got != 1 {
		t.Errorf("equal values: p is %v", got)
	}
	if got, want := smallest(3, 3), u.p([]float64{1, 2, 3}, []float64{4, 5, 6}); math.Abs(got-want) > 1e-12 {
		t.Errorf("smallest p of 3 and 3: %v, want %v", got, want)
	}
}

// TestRatioInterval counts how often intervals have the true ratio.
func TestRatioInterval(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	u := &ranks{}
	for _, n := range []int{4, 10, 25, 60} {
		const draws = 400
		right := 0
		for range draws {
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = 100*math.Exp(0.1*random.NormFloat64()), 110*math.Exp(0.1*random.NormFloat64())
			}
			if low, high := u.ratioInterval(x, y, 0.95); low <= 1.1 && 1.1 <= high {
				right++
			}
		}
		if right < draws*93/100 {
			t.Errorf("%d runs: %d of %d intervals have the ratio", n, right, draws)
		}
	}
	if low, high := u.ratioInterval([]float64{1, 2}, []float64{3, 4}, 0.95); low != 0 || !math.IsInf(high, 1) {
		t.Errorf("two runs: from %v to %v", low, high)
	}
	if low, high := u.ratioInterval([]float64{2, 2, 2, 2, 2}, []float64{3, 3, 3, 3, 3}, 0.95); math.Abs(low-1.5)+math.Abs(high-1.5) > 1e-9 {
		t.Errorf("constant values: from %v to %v", low, high)
	}
	if low, high := u.ratioInterval([]float64{0, 0, 0, 0, 0}, []float64{0, 0, 0, 0, 1}, 0.95); low != 0 || !math.IsInf(high, 1) {
		t.Errorf("zeros: from %v to %v", low, high)
	}
}

// TestSampling counts how often what is said of counts of samples is right.
func TestSampling(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	poisson := func(mean float64) (n float64) {
		for at := random.ExpFloat64(); at < mean; at += random.ExpFloat64() {
			n++
		}
		return n
	}
	for _, mean := range []float64{1, 5, 50, 500} {
		const draws = 1000
		right, false1 := 0, 0
		for range draws {
			base, test := poisson(mean), poisson(2*mean)
			if low, high := shareInterval(base, test, 0.95); low <= 2./3 && 2./3 <= high {
				right++
			}
			if shareP(base, test, 2./3) < 0.01 {
				false1++
			}
		}
		if right < draws*94/100 || false1 > draws*2/100 {
			t.Errorf("mean %v: %d of %d intervals are right, %d have a p below 0.01", mean, right, draws, false1)
		}
	}
	if low, high := shareInterval(0, 0, 0.95); low != 0 || high != 1 || shareP(0, 0, 0.5) != 1 {
		t.Errorf("no samples: %v to %v", low, high)
	}
	if got := dispersion([]float64{100, 100, 100, 100}); got != 1 {
		t.Errorf("equal counts: dispersion %v", got)
	}
	if got := dispersion([]float64{50, 100, 150}); got != 25 {
		t.Errorf("dispersion %v, want 25", got)
	}
}

// TestDiscoveries computes a known example (Benjamini and Hochberg, 1995, 3.2).
func TestDiscoveries(t *testing.T) {
	p := []float64{0.0278, 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000}
	rows := []Row{{P: math.NaN(), Q: math.NaN()}}
	for _, v := range p {
		rows = append(rows, Row{P: v})
	}
	if n := discoveries(rows); n != len(p) {
		t.Errorf("%d rows were tested, want %d", n, len(p))
	}
	found := 0
	for _, r := range rows {
		if r.Q <= 0.05 {
			found++
		}
	}
	if found != 4 {
		t.Errorf("%d discoveries at 5 %%, want 4", found)
	}
}
