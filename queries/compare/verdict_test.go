package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSampling counts how often intervals and p-values from sample counts are right.
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
