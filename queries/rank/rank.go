// Package rank compares groups of values by their ranks, whatever the distribution of the values,
// and finds where a series of values changes. Results are reproducible.
//
// Start reading with Test in rank.go; pairs.go and blocks.go compare values that belong together,
// change.go has the changes of a series.
package rank

import (
	"cmp"
	"math"
	"slices"
)

// The largest group sizes for which the exact distribution of ranks is used: exactTies if values
// are equal, exactRuns if none are. For larger groups, the normal distribution is as good.
const (
	exactTies = 12
	exactRuns = 50
)

// Test tests whether the values of two groups of runs differ, by their ranks (Mann-Whitney U). It
// caches distributions.
type Test struct {
	known  map[[2]int][]float64 // distributions without ties, by group sizes
	signed map[int][]float64    // distributions of signed ranks without ties, by the number of pairs
	sizes  [][2]int             // the group sizes of the blocks of sum
	sum    []float64            // distribution of the sum of U over blocks
}

// Smallest returns the smallest possible p-value for groups of n and m values: the one of groups
// that do not overlap.
func Smallest(n, m int) float64 {
	p := 2.0
	for i := 1; i <= n; i++ {
		p *= float64(i) / float64(m+i)
	}
	return min(p, 1)
}

// P returns the two-sided p-value of two groups: the probability of a difference at least as large
// if both have the same distribution.
func (r *Test) P(x, y []float64) float64 {
	scores, u, ties := midranks(x, y)
	return r.p(scores, len(x), u, ties)
}

// p is P. The first n values are one group, the rest the other. scores has twice their ranks, u is
// U of the first group, and ties is as midranks returns it.
func (r *Test) p(scores []int, n int, u, ties float64) float64 {
	m := len(scores) - n
	mean := float64(n*m) / 2
	if math.Abs(u-mean) == 0 {
		return 1
	}
	switch {
	case ties == 0 && max(n, m) <= exactRuns:
		return math.Min(1, 2*r.below(n, m, int(math.Min(u, float64(n*m)-u))))
	case max(n, m) <= exactTies:
		return permuted(scores, n)
	}
	size := float64(n + m)
	deviation := math.Sqrt(float64(n*m) / 12 * (size + 1 - ties/(size*(size-1))))
	if deviation == 0 {
		return 1
	}
	z := (math.Abs(u-mean) - 0.5) / deviation
	return math.Min(1, math.Erfc(z/math.Sqrt2))
}

// midranks returns scores, which are twice the rank of each value, those of x first; U of x; and
// the sum of t³-t over all groups of t equal values.
func midranks(x, y []float64) (scores []int, u, ties float64) {
	all := slices.Concat(x, y)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(all[a], all[b]), a-b) })
	scores = make([]int, len(all))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && all[order[j]] == all[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			scores[k] = i + 1 + j
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	sum := 0
	for _, s := range scores[:len(x)] {
		sum += s
	}
	return scores, float64(sum-len(x)*(len(x)+1)) / 2, ties
}

// below returns the probability that U of groups of n and m values, all different, is at most u.
func (r *Test) below(n, m, u int) float64 {
	if u < 0 {
		return 0
	}
	n, m = min(n, m), max(n, m) // the distribution of U is symmetric
	if r.known[[2]int{n, m}] == nil {
		scores := make([]int, n+m)
		for i := range scores {
			scores[i] = i + 1
		}
		if r.known == nil {
			r.known = map[[2]int][]float64{}
		}
		r.known[[2]int{n, m}] = cumulative(scores, n)[n*(n+1)/2:]
	}
	return r.known[[2]int{n, m}][u]
}

// permuted returns the two-sided p-value of the first n scores: twice the probability that n scores
// drawn at random have a sum at least as extreme, on the same side of the mean.
func permuted(scores []int, n int) float64 {
	sum, all := 0, 0
	for i, s := range scores {
		if all += s; i < n {
			sum += s
		}
	}
	least, most := slices.Min(scores), slices.Max(scores)
	from, sign, limit := least, 1, sum-n*least // distances from the least score
	if sum*len(scores) > all*n {
		from, sign, limit = most, -1, n*most-sum
	}
	ways := make([][]float64, n+1) // [number of drawn scores][sum of their distances]: how many ways there are to draw them
	for j := range ways {
		ways[j] = make([]float64, limit+1)
	}
	ways[0][0] = 1
	for i, s := range scores {
		distance := sign * (s - from)
		if distance > limit {
			continue
		}
		for j := min(i+1, n); j > 0; j-- {
			to, drawn := ways[j][distance:], ways[j-1]
			for k := range to {
				to[k] += drawn[k]
			}
		}
	}
	extreme, possible := 0.0, 1.0
	for _, w := range ways[n] {
		extreme += w
	}
	for i := range n {
		possible *= float64(len(scores)-i) / float64(i+1)
	}
	return math.Min(1, 2*extreme/possible)
}

// cumulative returns, by sum, the probability that n scores drawn at random have at most that sum.
func cumulative(scores []int, n int) []float64 {
	total := largest(scores, n)
	ways := make([][]float64, n+1) // [number of drawn scores][their sum]: how many ways there are to draw them
	for j := range ways {
		ways[j] = make([]float64, total+1)
	}
	ways[0][0] = 1
	reached := 0
	for i, s := range scores {
		reached = min(reached+s, total)
		for j := min(i+1, n); j > 0; j-- {
			to, from := ways[j], ways[j-1]
			for sum := s; sum <= reached; sum++ {
				to[sum] += from[sum-s]
			}
		}
	}
	out, all := ways[n], 0.0
	for sum, w := range out {
		all += w
		out[sum] = all
	}
	for sum := range out {
		out[sum] /= all
	}
	return out
}

func largest(scores []int, n int) (sum int) {
	sorted := slices.Sorted(slices.Values(scores))
	for _, s := range sorted[len(sorted)-n:] {
		sum += s
	}
	return sum
}

// Median returns the median of sorted values.
func Median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// RatioInterval returns the confidence interval of the ratio of y to x. Its bounds are ratios of a
// value of y to a value of x: those between them are the ones that the rank test does not reject
// (Hodges and Lehmann). It is 0 to infinity if there are too few runs.
func (r *Test) RatioInterval(x, y []float64, level float64) (low, high float64) {
	x, y = slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y))
	k := r.rank(len(x), len(y), (1-level)/2)
	if k == 0 {
		return 0, math.Inf(1)
	}
	pairs := len(x) * len(y)
	return kth(x, y, k, true), kth(x, y, pairs+1-k, false)
}

// rank returns k, so that the kth ratios from both ends of the sorted ratios bound the confidence
// interval: on each side, the true ratio is outside with at most the probability miss. It returns 0
// if even the outermost ratios miss the true one more often.
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

// kth returns the kth smallest ratio of a value of y to a value of x, both sorted. If both values
// are 0, the ratio counts as the smallest (zerosFirst) or as the largest.
func kth(x, y []float64, k int, zerosFirst bool) float64 {
	return kthRatio([]Block{{x, y}}, k, zerosFirst)
}
