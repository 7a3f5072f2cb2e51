package rank

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Power is the probability with which a change of the smallest detectable size is found.
const Power = 0.8

// Reach simulates powerDraws comparisons, or fewer if these would have more than powerValues values.
const (
	powerDraws  = 1000
	powerValues = 200000

	// One of outlierEvery values has noise that is outlierSize times as large.
	outlierEvery, outlierSize = 10, 3
)

// Reach says how far a ratio must exceed a limit so that, with the probability Power, the lower
// confidence bound of another comparison with as many runs exceeds the limit, too. It is a multiple
// of the width of the interval, on the scale of logarithms: if an interval reaches from low to high,
// the smallest detectable ratio is limit * (high/low)^Reach.
//
// interval computes the interval from n values and m values. Reach simulates pairs of independent
// comparisons of values with the same noise: normal, with outliers as real runs have them. It
// measures how far the second comparison's lower bound is below the true ratio, as a part of the
// width of the first one's interval. This is more than half of the width, because the estimates vary
// around the true ratio and the width varies as well. Reach returns NaN if there is no interval.
func Reach(interval func(x, y []float64) (low, high float64), n, m int) float64 {
	random := rand.New(rand.NewPCG(uint64(n), uint64(m))) // a fixed seed: results are reproducible
	x, y := make([]float64, n), make([]float64, m)
	draw := func() (low, high float64) {
		for _, values := range [][]float64{x, y} {
			for i := range values {
				noise := 0.01
				if random.IntN(outlierEvery) == 0 {
					noise *= outlierSize
				}
				values[i] = math.Exp(noise * random.NormFloat64())
			}
		}
		low, high = interval(x, y)
		return math.Log(low), math.Log(high)
	}
	draws := max(100, min(powerDraws, powerValues/(n+m)))
	parts := make([]float64, 0, draws)
	for range draws {
		low, high := draw()
		if !(high > low) || math.IsInf(high-low, 0) {
			return math.NaN()
		}
		below, _ := draw()
		parts = append(parts, -below/(high-low))
	}
	slices.Sort(parts)
	return parts[int(Power*float64(draws))]
}

// Detectable returns the smallest ratio that is found to exceed a limit with the probability Power,
// from an interval and its Reach. It is NaN if there is no interval.
func Detectable(low, high, limit, reach float64) float64 {
	if !(low > 0) || math.IsInf(high, 1) {
		return math.NaN()
	}
	return limit * math.Pow(high/low, reach)
}

// MoreRuns returns how many runs a comparison of n with m runs lacks for an interval at a level. base
// and test are the fewest more runs if both sides may have more, and testOnly is the number if only
// the second side may. A number is -1 if even maxRuns more runs are not enough.
func (r *Test) MoreRuns(n, m int, level float64) (base, test, testOnly int) {
	enough := func(n, m int) bool { return n > 0 && m > 0 && r.rank(n, m, (1-level)/2) > 0 }
	base, test, testOnly = -1, -1, -1
	for more := 0; more <= 2*maxRuns && base < 0; more++ {
		for b := range more + 1 {
			if !enough(n+b, m+more-b) || base >= 0 && abs(n+b-m-more+b) >= abs(n+base-m-test) {
				continue
			}
			base, test = b, more-b
		}
	}
	for more := range maxRuns {
		if enough(n, m+more) {
			return base, test, more
		}
	}
	return base, test, testOnly
}

// MorePairs returns how many pairs a comparison of n pairs lacks for an interval at a level.
func (r *Test) MorePairs(n int, level float64) int {
	more := 0
	for n+more <= exactRuns && r.pairsRank(n+more, (1-level)/2) == 0 {
		more++
	}
	return more
}

// MoreInBlocks returns how many runs of each side and block a comparison in blocks of these sizes
// lacks for an interval at a level.
func (r *Test) MoreInBlocks(sizes [][2]int, level float64) int {
	sizes = slices.Clone(sizes)
	more := 0
	for more < maxRuns && r.blocksRank(sizes, (1-level)/2) == 0 {
		more++
		for i := range sizes {
			sizes[i][0]++
			sizes[i][1]++
		}
	}
	return more
}

// maxRuns bounds the numbers of runs that MoreRuns and MoreInBlocks add.
const maxRuns = 50

func abs(n int) int { return max(n, -n) }
