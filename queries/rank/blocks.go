package rank

import (
	"math"
	"slices"
)

// Block holds the values of two groups that were measured under the same conditions, such as on one
// host. Values are compared only within their block.
type Block struct{ X, Y []float64 }

// The largest numbers of pairs of values, over all blocks, for which the exact distribution of their
// ranks is used: exactTiedPairs if values of a block are equal, exactPairs if none are. For more
// pairs, the normal distribution is as good.
const (
	exactTiedPairs = 2000
	exactPairs     = 20000
)

// BlocksP returns the two-sided p-value of a stratified rank test: the probability that the sum of U
// over all blocks is at least as far from its mean as here, if both groups of each block have the
// same distribution. Each pair of values of a block has the same weight. With blocks of equal sizes,
// this is van Elteren's test.
func (r *Test) BlocksP(blocks []Block) float64 {
	u, mean, variance, tied, exact := 0.0, 0.0, 0.0, false, true
	var scores [][]int
	for _, b := range blocks {
		s, ub, ties := midranks(b.X, b.Y)
		n, m := float64(len(b.X)), float64(len(b.Y))
		scores, u, mean = append(scores, s), u+ub, mean+n*m/2
		if size := n + m; size > 1 {
			variance += n * m / 12 * (size + 1 - ties/(size*(size-1)))
		}
		tied = tied || ties > 0
		exact = exact && len(s) <= 2*exactTies
	}
	off := math.Abs(u - mean)
	switch {
	case off == 0 || variance == 0:
		return 1
	case !tied && r.isExact(sizesOf(blocks)):
		return math.Min(1, 2*r.blocksDistribution(sizesOf(blocks))[int(mean-off)])
	case exact && 2*mean <= exactTiedPairs:
		return permutedBlocks(scores, blocks)
	}
	return math.Min(1, math.Erfc((off-0.5)/math.Sqrt(2*variance)))
}

// BlocksInterval returns the confidence interval of the ratio of y to x, which is the same in all
// blocks. Its bounds are ratios of a value of y to a value of x of the same block; BlocksP does not
// reject the ratios between them. It is 0 to infinity if there are too few values.
func (r *Test) BlocksInterval(blocks []Block, level float64) (low, high float64) {
	sorted, pairs := sortBlocks(blocks)
	k := r.blocksRank(sizesOf(blocks), (1-level)/2)
	if k == 0 {
		return 0, math.Inf(1)
	}
	return kthRatio(sorted, k, true), kthRatio(sorted, pairs+1-k, false)
}

// BlocksRatio returns the median ratio of a value of y to a value of x of the same block.
func BlocksRatio(blocks []Block) float64 {
	sorted, pairs := sortBlocks(blocks)
	if pairs == 0 {
		return math.NaN()
	}
	return middleRatio(kthRatio(sorted, (pairs+1)/2, true), kthRatio(sorted, pairs/2+1, false))
}

// middleRatio returns the geometric mean of two ratios.
func middleRatio(a, b float64) float64 {
	if a == b {
		return a
	}
	return math.Sqrt(a) * math.Sqrt(b)
}

// SmallestBlocked returns the smallest possible p-value of blocks with these numbers of values.
func SmallestBlocked(sizes [][2]int) float64 {
	p := 2.0
	for _, s := range sizes {
		p *= Smallest(s[0], s[1]) / 2
		if s[0] == 0 || s[1] == 0 {
			p *= 2
		}
	}
	return math.Min(p, 1)
}

func sizesOf(blocks []Block) (sizes [][2]int) {
	for _, b := range blocks {
		sizes = append(sizes, [2]int{len(b.X), len(b.Y)})
	}
	return sizes
}

func sortBlocks(blocks []Block) (sorted []Block, pairs int) {
	for _, b := range blocks {
		sorted = append(sorted, Block{slices.Sorted(slices.Values(b.X)), slices.Sorted(slices.Values(b.Y))})
		pairs += len(b.X) * len(b.Y)
	}
	return sorted, pairs
}

// isExact reports whether the exact distribution of U is used for blocks of these sizes.
func (r *Test) isExact(sizes [][2]int) bool {
	pairs := 0
	for _, s := range sizes {
		pairs += s[0] * s[1]
		if max(s[0], s[1]) > exactRuns {
			return false
		}
	}
	return pairs <= exactPairs
}

// blocksRank is rank for blocks of these sizes.
func (r *Test) blocksRank(sizes [][2]int, miss float64) int {
	pairs, variance := 0, 0.0
	for _, s := range sizes {
		pairs += s[0] * s[1]
		variance += float64(s[0]*s[1]) / 12 * float64(s[0]+s[1]+1)
	}
	if !r.isExact(sizes) {
		return max(0, int(float64(pairs)/2-math.Sqrt2*math.Erfinv(1-2*miss)*math.Sqrt(variance)))
	}
	below := r.blocksDistribution(sizes)
	k := 0
	for k < pairs/2 && below[k] <= miss {
		k++
	}
	return k
}

// blocksDistribution returns, by u, the probability that the sum of U over blocks of these sizes is
// at most u, if all values of a block differ.
func (r *Test) blocksDistribution(sizes [][2]int) []float64 {
	if slices.Equal(r.sizes, sizes) && r.sum != nil {
		return r.sum
	}
	sum := []float64{1}
	for _, s := range sizes {
		one := make([]float64, s[0]*s[1]+1)
		before := 0.0
		for u := range one {
			p := r.below(s[0], s[1], u)
			one[u], before = p-before, p
		}
		sum = convolve(sum, one)
	}
	r.sizes, r.sum = slices.Clone(sizes), accumulate(sum)
	return r.sum
}

// permutedBlocks is permuted for the sum of the scores of x over all blocks. scores has the scores
// of each block, with the scores of x first.
func permutedBlocks(scores [][]int, blocks []Block) float64 {
	all, drawn := []float64{1}, 0
	for i, s := range scores {
		n := len(blocks[i].X)
		for _, v := range s[:n] {
			drawn += v
		}
		c := cumulative(s, n)
		for sum := len(c) - 1; sum > 0; sum-- {
			c[sum] -= c[sum-1]
		}
		all = convolve(all, c)
	}
	c := accumulate(all)
	below := 0.0
	if drawn > 0 {
		below = c[drawn-1]
	}
	return math.Min(1, 2*math.Min(c[drawn], 1-below))
}

// convolve returns the distribution of the sum of two independent numbers.
func convolve(a, b []float64) []float64 {
	sum := make([]float64, len(a)+len(b)-1)
	for i, p := range a {
		if p == 0 {
			continue
		}
		for k, q := range b {
			sum[i+k] += p * q
		}
	}
	return sum
}

// accumulate makes a distribution cumulative.
func accumulate(p []float64) []float64 {
	for i := 1; i < len(p); i++ {
		p[i] += p[i-1]
	}
	return p
}

// kthRatio returns the kth smallest ratio of a value of y to a value of x of the same block. The
// values of each block are sorted. If both values are 0, the ratio counts as the smallest
// (zerosFirst) or as the largest.
func kthRatio(blocks []Block, k int, zerosFirst bool) float64 {
	count := func(ratio float64) (n int) {
		for _, b := range blocks {
			j := 0
			for _, v := range b.X {
				for j < len(b.Y) && b.Y[j] <= ratio*v {
					j++
				}
				if n += j; v == 0 && !zerosFirst {
					n -= j
				}
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
