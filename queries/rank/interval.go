package rank

import (
	"math"
	"slices"
)

// Median returns the median of sorted values.
func Median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// RatioInterval returns the confidence interval of the ratio of y to x: of all ratios of two
// values, those that the rank test does not reject (Hodges and Lehmann). It is 0 to infinity if
// there are too few runs.
func (r *Test) RatioInterval(x, y []float64, level float64) (low, high float64) {
	x, y = slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y))
	k := r.rank(len(x), len(y), (1-level)/2)
	if k == 0 {
		return 0, math.Inf(1)
	}
	pairs := len(x) * len(y)
	return kth(x, y, k, true), kth(x, y, pairs+1-k, false)
}

// rank returns how many ratios from either end lie beyond the bounds of an interval that misses the
// true ratio with this probability on each side, plus one; 0 if even the smallest ratio misses it
// more often.
func (r *Test) rank(n, m int, miss float64) int {
	if max(n, m) > exactRuns {
		deviation := math.Sqrt(float64(n*m) / 12 * float64(n+m+1))
		return max(0, int(float64(n*m)/2-math.Sqrt2*math.Erfinv(1-2*miss)*deviation))
	}
	k := 0
	for k < n*m/2 && r.below(n, m, k) <= miss {
		k++
	}
	return k
}

// kth returns the kth smallest ratio of a value of y to one of x, both sorted. Pairs of two zeros
// have any ratio: they count as the smallest or as the largest.
func kth(x, y []float64, k int, zerosFirst bool) float64 {
	count := func(ratio float64) (n int) {
		j := 0
		for _, v := range x {
			for j < len(y) && y[j] <= ratio*v {
				j++
			}
			if n += j; v == 0 && !zerosFirst {
				n -= j
			}
		}
		return n
	}
	if count(0) >= k {
		return 0
	}
	low, high := 0.0, 1.0
	for count(high) < k {
		if high *= 2; math.IsInf(high, 1) {
			return high
		}
	}
	for range 60 { // to the precision of float64
		if middle := (low + high) / 2; count(middle) >= k {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
