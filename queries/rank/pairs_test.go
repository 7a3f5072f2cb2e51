package rank

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPairs compares the signed-rank test with all assignments of signs, and the intervals with all
// averages.
func TestPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	r := &Test{}
	for n := 1; n <= 10; n++ {
		for range 20 {
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = math.Round(20*math.Exp(random.NormFloat64()/4)), math.Round(24*math.Exp(random.NormFloat64()/4))
			}
			got, want := r.PairsP(x, y), signedByHand(logRatios(x, y))
			if math.Abs(got-want) > 1e-9 {
				t.Errorf("%v against %v: p is %v, want %v", x, y, got, want)
			}
		}
	}
	x, y := []float64{100, 101, 99, 103, 98, 100, 102, 97}, []float64{103, 105, 101, 104, 103, 101, 108, 99}
	if p := r.PairsP(x, y); math.Abs(p-2.0/256) > 1e-12 {
		t.Errorf("all ratios above 1: p is %v", p)
	}
	low, high := r.PairsInterval(x, y, 0.95)
	if ratio := PairsRatio(x, y); !(1 < low && low < ratio && ratio < high && high < 1.06) {
		t.Errorf("ratio %v from %v to %v", ratio, low, high)
	}
	if low, high := r.PairsInterval(x[:5], y[:5], 0.95); low != 0 || !math.IsInf(high, 1) {
		t.Errorf("five pairs: from %v to %v", low, high)
	}
	if low, high := r.PairsInterval([]float64{0, 0, 1, 1, 1, 1}, []float64{1, 1, 0, 0, 1, 1}, 0.9); low != 0 || !math.IsInf(high, 1) {
		t.Errorf("values of 0: from %v to %v", low, high)
	}
	if got := r.PairsP([]float64{0, 0, 1}, []float64{0, 0, 1}); got != 1 {
		t.Errorf("equal values: p is %v", got)
	}
}

// signedByHand returns the p-value of differences from all assignments of signs to their ranks.
func signedByHand(d []float64) float64 {
	var sizes []float64
	positive, total := 0.0, 0.0
	rankOf := func(v float64) (rank float64) {
		for _, other := range sizes {
			if other < v {
				rank++
			} else if other == v {
				rank += 0.5
			}
		}
		return rank + 0.5
	}
	for _, v := range d {
		if v != 0 {
			sizes = append(sizes, math.Abs(v))
		}
	}
	for _, v := range d {
		if v > 0 {
			positive += rankOf(v)
		}
	}
	n := len(sizes)
	total = float64(n*(n+1)) / 2
	extreme := 0
	for signs := range 1 << n {
		sum := 0.0
		for i, v := range sizes {
			if signs>>i&1 == 1 {
				sum += rankOf(math.Abs(v))
			}
		}
		if math.Abs(sum-total/2) >= math.Abs(positive-total/2)-1e-9 {
			extreme++
		}
	}
	return float64(extreme) / float64(int(1)<<n)
}

// TestDesigns counts how often tests of pairs and of blocks reject equal groups, and how often
// intervals contain the true ratio, although hosts and rounds differ by much more than the groups.
func TestDesigns(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	const draws, ratio = 2000, 1.03
	r := &Test{}
	for _, n := range []int{8, 20, 60} {
		wrong, missed, seen, blind := [2]int{}, [2]int{}, [2]int{}, 0
		for range draws {
			blocks := []Block{{}, {}, {}, {}}
			var x, y, shifted []float64
			for i := range n {
				round := 100 * math.Exp(0.2*random.NormFloat64())
				host := &blocks[i%4]
				x, y = append(x, round*math.Exp(0.01*random.NormFloat64())), append(y, round*math.Exp(0.01*random.NormFloat64()))
				shifted = append(shifted, ratio*y[i])
				speed := float64(1 + i%4)
				host.X, host.Y = append(host.X, speed*math.Exp(0.01*random.NormFloat64())), append(host.Y, speed*math.Exp(0.01*random.NormFloat64()))
			}
			var moved []Block
			for _, b := range blocks {
				m := Block{X: b.X}
				for _, v := range b.Y {
					m.Y = append(m.Y, ratio*v)
				}
				moved = append(moved, m)
			}
			count := func(k int, p, shiftedP, low, high float64) {
				if p <= 0.05 {
					wrong[k]++
				}
				if shiftedP <= 0.05 {
					seen[k]++
				}
				if low > ratio || ratio > high {
					missed[k]++
				}
			}
			low, high := r.PairsInterval(x, shifted, 0.95)
			count(0, r.PairsP(x, y), r.PairsP(x, shifted), low, high)
			low, high = r.BlocksInterval(moved, 0.95)
			count(1, r.BlocksP(blocks), r.BlocksP(moved), low, high)
			if r.P(x, shifted) <= 0.05 {
				blind++
			}
		}
		t.Logf("%d runs: of %d, wrong %v, intervals without the ratio %v, found %v; without pairs %d", n, draws, wrong, missed, seen, blind)
		for k := range 2 {
			if wrong[k] > draws*65/1000 || missed[k] > draws*65/1000 || seen[k] < draws*85/100 {
				t.Errorf("%d runs, design %d: that is too many, or too few", n, k)
			}
		}
		if blind > draws/5 {
			t.Errorf("%d runs: the test without pairs finds %d of %d", n, blind, draws)
		}
	}
}

// TestBlocks compares one block with the test of two groups.
func TestBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	r := &Test{}
	for _, n := range []int{4, 9, 12, 30, 70} {
		for range 20 {
			x, y := make([]float64, n), make([]float64, n+1)
			for _, ties := range []float64{0, 3} {
				for _, values := range [][]float64{x, y} {
					for i := range values {
						if values[i] = math.Exp(random.NormFloat64() / 5); ties > 0 {
							values[i] = math.Round(ties * values[i])
						}
					}
				}
				if got, want := r.BlocksP([]Block{{x, y}}), r.P(x, y); math.Abs(got-want) > 1e-9 {
					t.Errorf("%d values, ties %v: p is %v, want %v", n, ties, got, want)
				}
			}
			low, high := r.BlocksInterval([]Block{{x, y}}, 0.95)
			if l, h := r.RatioInterval(x, y, 0.95); l != low || h != high {
				t.Errorf("%d values: from %v to %v, want %v to %v", n, low, high, l, h)
			}
		}
	}
	// blocks of a run each are a sign test
	signs := []Block{{[]float64{1}, []float64{2}}, {[]float64{10}, []float64{11}}, {[]float64{3}, []float64{4}}, {[]float64{30}, []float64{41}}, {[]float64{30}, []float64{29}}}
	if got := r.BlocksP(signs); math.Abs(got-12.0/32) > 1e-12 {
		t.Errorf("signs: p is %v", got)
	}
	if got := SmallestBlocked(sizesOf(signs)); got != 2.0/32 {
		t.Errorf("signs: the smallest p is %v", got)
	}
}

// TestReach plants changes of the smallest detectable size into other draws.
func TestReach(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	r := &Test{}
	for _, n := range []int{5, 10, 40, 80} {
		interval := func(x, y []float64) (low, high float64) { return r.RatioInterval(x, y, 0.95) }
		reach := Reach(interval, n, n)
		const draws, limit = 1000, 1.03
		found := 0
		for range draws {
			x, y := make([]float64, n), make([]float64, n)
			draw := func() {
				for i := range x {
					x[i], y[i] = math.Exp(0.02*random.NormFloat64()), math.Exp(0.02*random.NormFloat64())
				}
			}
			draw()
			low, high := interval(x, y)
			size := Detectable(low, high, limit, reach)
			draw()
			for i := range y {
				y[i] *= size
			}
			if low, _ := interval(x, y); low > limit {
				found++
			}
		}
		t.Logf("%d runs: reach %.3f, found %d of %d", n, reach, found, draws)
		if found < draws*77/100 || found > draws*88/100 {
			t.Errorf("%d runs: found %d of %d, want %v of them", n, found, draws, Power)
		}
	}
	if got := Reach(func(x, y []float64) (low, high float64) { return r.RatioInterval(x, y, 0.95) }, 3, 3); !math.IsNaN(got) {
		t.Errorf("three runs: %v", got)
	}
}

// TestMoreRuns counts the runs that are missing for an interval.
func TestMoreRuns(t *testing.T) {
	r := &Test{}
	for _, c := range []struct{ n, m, base, test, only int }{{4, 4, 0, 0, 0}, {3, 3, 1, 1, 2}, {1, 1, 3, 3, 38}, {2, 40, 0, 0, 0}} {
		if base, test, only := r.MoreRuns(c.n, c.m, 0.95); base != c.base || test != c.test || only != c.only {
			t.Errorf("%d and %d runs: %d, %d, %d more; want %d, %d, %d", c.n, c.m, base, test, only, c.base, c.test, c.only)
		}
	}
	if got := r.MorePairs(3, 0.95); got != 3 {
		t.Errorf("three pairs: %d more", got)
	}
}
