package rank

import (
	"math"
	"slices"
)

// PairsP returns the two-sided p-value of pairs of values, x[i] and y[i], that were measured back to
// back: the probability of ratios at least as far from 1, if each value of a pair is equally likely
// to be the larger one. It is Wilcoxon's signed-rank test of the logarithms of the ratios, without
// pairs of equal values, and exact up to exactRuns pairs.
func (r *Test) PairsP(x, y []float64) float64 {
	d := slices.DeleteFunc(logRatios(x, y), func(d float64) bool { return d == 0 })
	scores, positive, ties := signedRanks(d)
	n := float64(len(d))
	total := n * (n + 1) // sum of the scores, which are twice the ranks
	off := math.Abs(2*float64(positive) - total)
	switch {
	case off == 0:
		return 1
	case len(d) <= exactRuns:
		return math.Min(1, 2*signedDistribution(scores)[int(total-off)/2])
	}
	deviation := math.Sqrt(total*(2*n+1)/24 - ties/48)
	return math.Min(1, math.Erfc((off/4-0.5)/deviation/math.Sqrt2))
}

// PairsInterval returns the confidence interval of the ratio of y to x from pairs of values. Its
// bounds are geometric means of two pairs' ratios; PairsP does not reject the ratios between them
// (Hodges and Lehmann). It is 0 to infinity if there are too few pairs.
func (r *Test) PairsInterval(x, y []float64, level float64) (low, high float64) {
	k := r.pairsRank(len(x), (1-level)/2)
	if k == 0 {
		return 0, math.Inf(1)
	}
	w := newWalsh(logRatios(x, y))
	return math.Exp(w.kth(k, true)), math.Exp(w.kth(w.count()+1-k, false))
}

// PairsRatio returns the ratio of y to x from pairs of values: the median of the geometric means of
// two pairs' ratios (Hodges and Lehmann).
func PairsRatio(x, y []float64) float64 {
	w := newWalsh(logRatios(x, y))
	n := w.count()
	if n == 0 {
		return math.NaN()
	}
	return middleRatio(math.Exp(w.kth((n+1)/2, true)), math.Exp(w.kth(n/2+1, false)))
}

// SmallestPaired returns the smallest possible p-value of n pairs.
func SmallestPaired(n int) float64 { return math.Min(1, math.Ldexp(2, -n)) }

// logRatios returns the logarithm of y[i]/x[i]; 0 if both are 0.
func logRatios(x, y []float64) []float64 {
	d := make([]float64, len(x))
	for i := range d {
		if x[i] != y[i] {
			d[i] = math.Log(y[i] / x[i])
		}
	}
	return d
}

// signedRanks returns scores, which are twice the rank of each difference's absolute value; the sum
// of the scores of positive differences; and the sum of t³-t over all groups of t equal absolute
// values.
func signedRanks(d []float64) (scores []int, positive int, ties float64) {
	size := make([]float64, len(d))
	for i := range d {
		size[i] = math.Abs(d[i])
	}
	scores, _, ties = midranks(size, nil)
	for i, s := range scores {
		if d[i] > 0 {
			positive += s
		}
	}
	return scores, positive, ties
}

// signedDistribution returns, for each sum, the probability that the scores of the positive
// differences have at most that sum, if each difference is positive with the probability 1/2.
func signedDistribution(scores []int) []float64 {
	total := 0
	for _, s := range scores {
		total += s
	}
	p := make([]float64, total+1)
	p[0] = 1
	for _, s := range scores {
		for sum := total; sum >= 0; sum-- {
			if p[sum] /= 2; sum >= s {
				p[sum] += p[sum-s] / 2
			}
		}
	}
	return accumulate(p)
}

// pairsRank is rank for n pairs: the kth means from both ends bound the interval.
func (r *Test) pairsRank(n int, miss float64) int {
	if n > exactRuns {
		size := float64(n)
		deviation := math.Sqrt(size * (size + 1) * (2*size + 1) / 24)
		return max(0, int(size*(size+1)/4-math.Sqrt2*math.Erfinv(1-2*miss)*deviation))
	}
	if r.signed == nil {
		r.signed = map[int][]float64{}
	}
	if r.signed[n] == nil {
		scores := make([]int, n)
		for i := range scores {
			scores[i] = i + 1
		}
		r.signed[n] = signedDistribution(scores)
	}
	k := 0
	for k < n*(n+1)/4 && r.signed[n][k] <= miss {
		k++
	}
	return k
}

// walsh holds differences. Their Walsh averages are the means of all pairs of differences, including
// each one with itself. Infinite differences come from values of 0.
type walsh struct {
	finite       []float64 // sorted
	below, above int       // numbers of differences of minus and plus infinity
}

func newWalsh(d []float64) (w walsh) {
	for _, v := range d {
		switch {
		case math.IsInf(v, -1):
			w.below++
		case math.IsInf(v, 1):
			w.above++
		default:
			w.finite = append(w.finite, v)
		}
	}
	slices.Sort(w.finite)
	return w
}

func (w *walsh) count() int {
	n := len(w.finite) + w.below + w.above
	return n * (n + 1) / 2
}

// kth returns the kth smallest average. The averages of minus and plus infinity, which are unknown,
// count as the smallest (unknownFirst) or as the largest.
func (w *walsh) kth(k int, unknownFirst bool) float64 {
	n := len(w.finite)
	infinite := w.below*(w.below+1)/2 + w.below*n
	if unknownFirst {
		infinite += w.below * w.above
	}
	if k -= infinite; k <= 0 {
		return math.Inf(-1)
	} else if k > n*(n+1)/2 {
		return math.Inf(1)
	}
	low, high := w.finite[0], w.finite[n-1]
	if w.within(low) >= k {
		return low
	}
	for range 64 { // to the precision of float64
		if middle := low + (high-low)/2; w.within(middle) >= k {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// within returns the number of averages of finite differences that are at most limit.
func (w *walsh) within(limit float64) (n int) {
	j := len(w.finite) - 1
	for i, v := range w.finite {
		for j >= i && (v+w.finite[j])/2 > limit {
			j--
		}
		if j < i {
			return n
		}
		n += j - i + 1
	}
	return n
}
