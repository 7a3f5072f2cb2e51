package rank

import (
	"math"
	"slices"
)

// Chance bounds the probability that segment finds any change in a series of independent values of
// one distribution. SmallestChange is the smallest relative change of the median that counts.
const (
	Chance         = 0.01
	SmallestChange = 0.01
)

// Change is a point in a series of values at which their level changes.
type Change struct {
	At     int     `json:"at"`     // index of the first value after the change
	Before float64 `json:"before"` // median between the neighboring changes
	After  float64 `json:"after"`
	P      float64 `json:"p"` // p-value of the test between the neighboring changes
	State  State   `json:"state"`
}

// State says how certain a change is.
type State string

// The states of changes. A change at the end of a series may be neither certain nor due to chance.
const (
	Sure  State = "sure"
	Maybe State = "maybe"
)

// Changes finds where the level of a series changes. Segmentation finds the changes that have many
// values on both sides; after the last of them, Newest tests the end of the series.
func (r *Test) Changes(values []float64) []Change {
	changes := r.segment(values)
	// A step among the newest values may hide another change not long before, because few values have
	// the level between them.
	const level = SureChance / mostNewest
	for k := 1; k <= mostNewest && k < len(values)-lastAt(changes); k++ {
		if _, p := r.split(values[lastAt(changes):len(values)-k], level); p > level {
			continue
		}
		earlier := r.segment(values[:len(values)-k])
		if n := len(earlier) - 1; lastAt(earlier) >= lastAt(changes)+LeastBefore && earlier[n].P <= level {
			changes = earlier
		}
	}
	from := lastAt(changes)
	for {
		s, ok := r.Newest(values[from:])
		if !ok || !s.Maybe() {
			return changes
		}
		c := Change{At: len(values) - s.Newest, Before: s.Before, After: s.After, P: max(s.P, s.Rank), State: Maybe}
		if s.Sure(SureChance) {
			c.State = Sure
		}
		changes = append(changes, c)
		from = c.At // the newest values may have changed once more
	}
}

// lastAt returns the place of the last change, or 0 if there is none.
func lastAt(changes []Change) int {
	if len(changes) == 0 {
		return 0
	}
	return changes[len(changes)-1].At
}

// segment finds changes by seeded binary segmentation (Kovács, Bühlmann, Li, Munk 2023). It
// considers intervals of many lengths, all over the series, the shortest first. In each interval, it
// finds the split whose sides differ most, and applies the rank test to the sides. A split that is
// significant, after correction for the number of intervals and splits (Bonferroni), is a change;
// longer intervals that contain it are skipped. segment then moves each change to the place where it
// fits best between its neighbors. It keeps the change if the values on its sides still differ
// significantly, and their medians differ.
//
// A single outlier is not a change, because ranks ignore how far it is off. A drift is one change or
// several. The test assumes independent values: it finds more changes if they are autocorrelated.
func (r *Test) segment(values []float64) []Change {
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

// settle moves each change to where it fits best between its neighbors. It drops the least
// significant change, one at a time, until all are significant.
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
			c := Change{from + at, median(part[:at]), median(part[at:]), r.exactP(scores, at, u, ties, level), Sure}
			if c.Before == c.After || math.Abs(c.After-c.Before) < SmallestChange*math.Abs(c.Before) || c.P <= level && related(part, at) {
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

// related reports whether values resemble their neighbors so much that the sides of a split may
// differ by chance. The rank test does not see that.
func related(values []float64, at int) bool {
	long, short := values[:at], values[at:]
	if len(long) < len(short) {
		long, short = short, long
	}
	return len(long) > LeastBefore && compareLevels(long, short).P*float64(len(values)) > MaybeChance
}

// fit improves a split that is about right: it returns the one with the smallest sum of distances
// from each value to the median of its side. The medians are those of the given split.
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

// split returns the split whose sides differ most by their ranks, as the number of values before
// it, and its p-value.
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

// exactP is p, but more accurate if values are equal: then the normal distribution makes small
// p-values too small, so p-values up to level are computed exactly, unless that takes too long.
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

// interval is the part of a series with the indexes [from, to).
type interval struct{ from, to int }

// seeded returns intervals of a series of n values: the whole series, and shorter ones, which
// overlap by about half of their length. The lengths decrease by a factor of √2. level is the
// p-value that a split must not exceed. Intervals so short that no split can reach it are left out.
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
