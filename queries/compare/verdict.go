package compare

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"stackmill/queries/rank"
)

// discoveries sets the q-value of each tested row (Benjamini and Hochberg): the false discovery
// rate if this row, and all with a smaller p-value, are called different. It returns the number of
// tested rows.
func discoveries(rows []Row) int {
	var tested []*Row
	for i := range rows {
		if !math.IsNaN(rows[i].P) {
			tested = append(tested, &rows[i])
		}
	}
	slices.SortFunc(tested, func(a, b *Row) int { return cmp.Compare(a.P, b.P) })
	q := 1.0
	for i, r := range slices.Backward(tested) {
		q = min(q, r.P*float64(len(tested))/float64(i+1))
		r.Q = q
	}
	return len(tested)
}

// verdict derives a row's verdict from its numbers.
func (c *comparison) verdict(r *Row) string {
	switch {
	case r.Verdict != "":
		return r.Verdict
	case !r.exact && !(r.Q <= c.FDR):
		if math.IsNaN(r.P) || c.tooFew() {
			return TooFew
		}
		return Same
	case r.BaseN == 0:
		return Appeared
	case r.TestN == 0:
		return Vanished
	case math.Abs(r.Ratio-1) < c.MinChange:
		return Same
	case r.Ratio > 1:
		return Slower
	case r.Ratio < 1:
		return Faster
	}
	return Same
}

// tooFew reports whether there are too few runs for any single row to be a discovery, however large
// its difference.
func (c *comparison) tooFew() bool {
	n, m := len(c.Result.Base.Runs), len(c.Result.Test.Runs)
	if c.sampled && (n == 1 || m == 1) {
		return false
	}
	return c.smallest()*float64(c.Judged) > c.FDR
}

// bySampling tests a row by its numbers of samples: used if a side has a single run.
func (c *comparison) bySampling(r *Row, base, test []float64) {
	counts, exposures := c.counts(base, test)
	if counts == nil {
		return
	}
	n := len(base)
	spread := math.Max(dispersion(counts[:n]), dispersion(counts[n:]))
	b, t := Sum(counts[:n])/spread, Sum(counts[n:])/spread
	exposed, exposedTest := Sum(exposures), Sum(exposures[n:])
	r.P = shareP(b, t, exposedTest/exposed)
	low, high := shareInterval(b, t, c.level)
	rate := (exposed - exposedTest) / exposedTest
	r.Low, r.High = low/(1-low)*rate, high/(1-high)*rate
}

// counts converts values to numbers of samples. exposures has, for each run, how many samples a
// value of 1 would have; nil if that is unknown.
func (c *comparison) counts(base, test []float64) (counts, exposures []float64) {
	usual := 0.0
	for _, r := range c.runs {
		usual = max(usual, r.weight)
	}
	for n, v := range slices.Concat(base, test) {
		r := c.runs[n]
		weight := r.weight
		if weight == 0 {
			weight = usual
		}
		if weight == 0 || r.unit == 0 {
			return nil, nil
		}
		counts, exposures = append(counts, v*r.unit/weight), append(exposures, r.unit/weight)
	}
	return counts, exposures
}

// Sum returns the sum of values.
func Sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}

// If a side has a single run, the variation between runs is unknown. The noise of sampling is
// known: numbers of samples are Poisson distributed, so the share of one side in the sum of both is
// binomial.

// shareInterval returns the confidence interval of the test's share in the samples of both sides
// (Wilson score, with continuity correction).
func shareInterval(base, test, level float64) (low, high float64) {
	n := base + test
	if n == 0 {
		return 0, 1
	}
	p, z := test/n, math.Sqrt2*math.Erfinv(level)
	bound := func(sign float64) float64 {
		inside := z*z - 1/n + 4*n*p*(1-p) - sign*(4*p-2)
		return (2*n*p + z*z + sign*(z*math.Sqrt(math.Max(inside, 0))+1)) / (2 * (n + z*z))
	}
	low, high = math.Max(0, bound(-1)), math.Min(1, bound(1))
	if test == 0 {
		low = 0
	}
	if base == 0 {
		high = 1
	}
	return low, high
}

// shareP returns the p-value of the numbers of samples of both sides, if the test's expected share
// in their sum is `expected`: the probability of a division at least as far from that.
func shareP(base, test, expected float64) float64 {
	n := base + test
	off := math.Abs(test-n*expected) - 0.5
	if n == 0 || off <= 0 {
		return 1
	}
	return math.Erfc(off / math.Sqrt(2*n*expected*(1-expected)))
}

// dispersion is the variance between the runs of a side, divided by the variance that sampling
// explains; at least 1.
func dispersion(counts []float64) float64 {
	n := float64(len(counts))
	if n < 3 {
		return 1
	}
	sum, squares := 0.0, 0.0
	for _, c := range counts {
		sum += c
	}
	if sum == 0 {
		return 1
	}
	mean := sum / n
	for _, c := range counts {
		squares += (c - mean) * (c - mean)
	}
	return math.Max(1, squares/(n-1)/mean)
}

// noise divides the base's runs `divisions` times. It needs fewRuns runs, and uses manyRuns at
// most.
const (
	divisions = 100
	fewRuns   = 4
	manyRuns  = 1000
)

// noise measures how much the medians of two random halves of the base's runs differ, for each
// judged row. It uses the runs of the build that has the most, and divides them many times.
func (c *comparison) noise() {
	builds := map[string][]int{}
	var most []int
	for n := range c.Result.Base.Runs {
		b := c.programs[n]
		builds[b] = append(builds[b], n)
		if len(builds[b]) > len(most) {
			most = builds[b]
		}
	}
	if len(most) < fewRuns {
		return
	}
	most = most[:min(len(most), manyRuns)]
	c.NoiseRuns = len(most)
	random := rand.New(rand.NewPCG(1, uint64(len(most)))) // a fixed seed: results are reproducible
	var halves [divisions][]int
	for i := range halves {
		halves[i] = random.Perm(len(most))
	}
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Judged && r.Base > 0 {
			r.Noise = floor(r.values, most, halves[:])
		}
	}
}

// floor returns the relative difference of medians that 95 % of the divisions do not exceed.
func floor(values []float64, runs []int, halves [][]int) float64 {
	var changes []float64
	half := len(runs) / 2
	part := make([]float64, 0, len(runs))
	middle := func(of []int) float64 {
		part = part[:0]
		for _, i := range of {
			part = append(part, values[runs[i]])
		}
		slices.Sort(part)
		return rank.Median(part)
	}
	for _, order := range halves {
		a, b := middle(order[:half]), middle(order[half:2*half])
		if low := math.Min(a, b); low > 0 {
			changes = append(changes, math.Max(a, b)/low-1)
		} else if a != b {
			changes = append(changes, math.Inf(1))
		} else {
			changes = append(changes, 0)
		}
	}
	slices.Sort(changes)
	return changes[len(changes)*95/100]
}
