package rank

import (
	"math"
	"slices"
)

// Chance bounds the probability that a change is found anywhere in a series of independent values
// of one distribution. SmallestChange is the smallest relative change of the median that counts.
const (
	Chance         = 0.01
	SmallestChange = 0.01
)

// Change is a point at which a series of values changes.
type Change struct {
	At     int     `json:"at"`     // index of the first value after it
	Before float64 `json:"before"` // median between the neighboring changes
	After  float64 `json:"after"`
	P      float64 `json:"p"` // p-value of the test between the neighboring changes
}

// Changes finds where the level of a series changes, by seeded binary segmentation (Kovács,
// Bühlmann, Li, Munk 2023): in intervals of many lengths all over the series, it applies the rank
// test to the two sides of the split at which they differ most. A split that is significant after
// correction for their number (Bonferroni) is a change; the narrowest intervals come first, and
// each has at most one. Each change is then moved to where it fits best between its neighbors, and
// kept if the values on its sides differ by the test and in their medians.
//
// A single outlier is no change, since ranks ignore its distance. A drift is one change or several.
// The test assumes independent values: with autocorrelated ones it finds more.
func (r *Test) Changes(values []float64) []Change {
	intervals, level := seeded(len(values))
	var splits []int
	for _, in := range slices.Backward(intervals) {
		if slices.ContainsFunc(splits, func(at int) bool { return in.from < at && at < in.to }) {
			continue
		}
		if at, p := r.split(values[in.from:in.to], level); p <= level {
			splits = append(splits, in.from+at)
		}
	}
	slices.Sort(splits)
	return r.settle(values, splits, level)
}

// settle moves each change to where it fits best between its neighbors, and drops the least
// significant one until all are significant.
func (r *Test) settle(values []float64, splits []int, level float64) []Change {
	for {
		changes := make([]Change, len(splits))
		worst := -1
		for i := range splits {
			from, to := 0, len(values)
			if i > 0 {
				from = splits[i-1]
			}
			if i+1 < len(splits) {
				to = splits[i+1]
			}
			part := values[from:to]
			at := fit(part, splits[i]-from)
			scores, u, ties := midranks(part[:at], part[at:])
			c := Change{from + at, median(part[:at]), median(part[at:]), r.exactP(scores, at, u, ties, level)}
			if c.Before == c.After || math.Abs(c.After-c.Before) < SmallestChange*math.Abs(c.Before) {
				c.P = 1
			}
			if c.P > level && (worst < 0 || c.P > changes[worst].P) {
				worst = i
			}
			splits[i], changes[i] = c.At, c
		}
		if worst < 0 {
			return changes
		}
		splits = slices.Delete(splits, worst, worst+1)
	}
}

// fit returns the split that minimizes the sum of distances to the two medians, given a split that
// is about right.
func fit(values []float64, at int) int {
	before, after := median(values[:at]), median(values[at:])
	best, sum, least := at, 0.0, math.Inf(1)
	for n := 1; n < len(values); n++ {
		v := values[n-1]
		if sum += math.Abs(v-before) - math.Abs(v-after); sum < least {
			best, least = n, sum
		}
	}
	return best
}

// split returns the number of values before the split whose sides differ most by their ranks, and
// its p-value.
func (r *Test) split(values []float64, level float64) (at int, p float64) {
	scores, _, ties := midranks(values, nil)
	sum, most, u := 0, 0.0, 0.0
	for n := 1; n < len(values); n++ {
		sum += scores[n-1]
		un, mean := float64(sum-n*(n+1))/2, float64(n*(len(values)-n))/2
		// The variance of U is proportional to its mean, with the same factor for all splits.
		if off := math.Abs(un-mean) / math.Sqrt(mean); off > most {
			at, u, most = n, un, off
		}
	}
	if at == 0 {
		return 0, 1
	}
	return at, r.exactP(scores, at, u, ties, level)
}

// exactP is p. If many values are equal, the normal distribution makes small p-values too small, so
// those up to level are computed exactly, unless that takes too long.
func (r *Test) exactP(scores []int, n int, u, ties, level float64) float64 {
	p := r.p(scores, n, u, ties)
	if n*2 > len(scores) {
		scores, n = append(slices.Clone(scores[n:]), scores[:n]...), len(scores)-n
	}
	const steps = 1 << 26
	if ties > 0 && p <= level && len(scores)*n*largest(scores, n) < steps {
		return permuted(scores, n)
	}
	return p
}

// interval is a part of a series, from a value to before another.
type interval struct{ from, to int }

// seeded returns intervals of a series of n values: the whole series and shorter ones, each length
// shorter by a factor of √2, which overlap by about half of their length. level is the p-value that
// a split must not exceed. Intervals in which no split can reach it are left out.
func seeded(n int) (list []interval, level float64) {
	splits := 0
	for length := float64(n); length >= 2; length /= math.Sqrt2 {
		size := int(math.Ceil(length))
		if Smallest(size/2, size-size/2) > Chance/float64(n) {
			break
		}
		starts := 2*int(math.Ceil(float64(n)/length)) - 1
		for i := range starts {
			from := (n - size) * i / max(starts-1, 1)
			list, splits = append(list, interval{from, from + size}), splits+size-1
		}
	}
	return list, Chance / float64(max(splits, 1))
}

func median(values []float64) float64 { return Median(slices.Sorted(slices.Values(values))) }
