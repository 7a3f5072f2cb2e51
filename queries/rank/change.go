package rank

import (
	"math"
	"slices"
)

// Chance is how likely chance alone marks a change anywhere in a series of independent
// values of one distribution, at most; SmallestChange is the change of the median, as a
// part of it, below which there is none.
const (
	Chance         = 0.01
	SmallestChange = 0.01
)

// Change is where a series of values changes.
type Change struct {
	At            int     // the first value after it
	P             float64 // of the test of the values between the changes before and after it
	Before, After float64 // medians of these
}

// Changes finds where the level of a series changes, by seeded binary segmentation
// (Kovács, Bühlmann, Li, Munk 2023): in intervals of many lengths, at all places, the test
// of ranks is applied to the two sides of the split where they differ most. What is
// significant, though there are so many splits (Bonferroni), is a change: those in the
// narrowest intervals first, and one in an interval only. Each is then moved to where it fits
// best between its neighbours, and kept if the values on its two sides differ by that test
// and by their medians.
//
// A single outlier is no change, since ranks do not see how far away it is. A drift is one or
// several. Values that depend on those before them are not what the test expects: it finds
// more then.
func (r *Test) Changes(values []float64) []Change {
	intervals, level := seeded(len(values))
	var places []int
	for _, in := range slices.Backward(intervals) {
		if slices.ContainsFunc(places, func(at int) bool { return in.from < at && at < in.to }) {
			continue
		}
		if at, p := r.split(values[in.from:in.to], level); p <= level {
			places = append(places, in.from+at)
		}
	}
	slices.Sort(places)
	return r.settle(values, places, level)
}

// settle moves each change to where it fits best between its neighbours, and drops the least
// sure one as long as there is one that is none.
func (r *Test) settle(values []float64, places []int, level float64) []Change {
	for {
		changes := make([]Change, len(places))
		worst := -1
		for i := range places {
			from, to := 0, len(values)
			if i > 0 {
				from = places[i-1]
			}
			if i+1 < len(places) {
				to = places[i+1]
			}
			part := values[from:to]
			at := fit(part, places[i]-from)
			scores, u, ties := midranks(part[:at], part[at:])
			c := Change{from + at, r.sure(scores, at, u, ties, level), median(part[:at]), median(part[at:])}
			if c.Before == c.After || math.Abs(c.After-c.Before) < SmallestChange*math.Abs(c.Before) {
				c.P = 1
			}
			if c.P > level && (worst < 0 || c.P > changes[worst].P) {
				worst = i
			}
			places[i], changes[i] = c.At, c
		}
		if worst < 0 {
			return changes
		}
		places = slices.Delete(places, worst, worst+1)
	}
}

// fit returns the split of a series at which its values are, in sum, the least away from the
// medians on both sides of a split that is about right.
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

// split returns where the two sides of a series differ most by their ranks, as the number of
// values before it, and the p of their difference.
func (r *Test) split(values []float64, level float64) (at int, p float64) {
	scores, _, ties := midranks(values, nil)
	sum, most, u := 0, 0.0, 0.0
	for n := 1; n < len(values); n++ {
		sum += scores[n-1]
		un, mean := float64(sum-n*(n+1))/2, float64(n*(len(values)-n))/2
		// The variance of U is its mean times a factor that all splits have in common.
		if off := math.Abs(un-mean) / math.Sqrt(mean); off > most {
			at, u, most = n, un, off
		}
	}
	if at == 0 {
		return 0, 1
	}
	return at, r.sure(scores, at, u, ties, level)
}

// sure is p. Where many values are equal, the normal distribution is too sure of small ones:
// what is below a level is worked out, unless that takes too long.
func (r *Test) sure(scores []int, n int, u, ties, level float64) float64 {
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

// interval is a part of a series: from a value to before another.
type interval struct{ from, to int }

// seeded returns intervals of a series of n values, the whole of it and shorter ones, by the
// square root of two each time, which overlap by about half of their length; and the p that a
// split of one must have at most. They end where no split could have that.
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
