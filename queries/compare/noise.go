package compare

import (
	"math"
	"math/rand/v2"
	"slices"

	"stackmill/queries/rank"
)

// How often the base's runs are divided to measure the noise, and the minimum and maximum number of
// runs.
const (
	divisions = 100
	fewRuns   = 4
	manyRuns  = 1000
)

// noise measures, for each judged row, by how much the medians of two halves of the base's runs
// differ. It divides the runs of the most frequent build at random, again and again.
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

// floor returns the relative change that 95 of 100 divisions of the runs do not exceed.
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
