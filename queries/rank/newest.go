package rank

import (
	"math"
	"slices"
)

// Limits of the test of the newest values.
const (
	// mostNewest is the largest number of newest values that are tested together.
	mostNewest = 10
	// LeastBefore is the smallest number of values from which the usual level and noise are known.
	LeastBefore = 5
	// SureChance bounds the probability that a change among the newest values is called sure
	// although nothing changed; MaybeChance is the same for "maybe".
	SureChance  = 0.00005
	MaybeChance = 0.01
	// rankChance is the p-value of the rank test that a sure change needs as well, whatever the
	// distribution of the values. It is smaller if all values before are equal, because these do
	// not show how much values vary.
	rankChance      = 0.01
	rankChanceEqual = 0.001
)

// Step compares the newest values of a series with the values before them.
type Step struct {
	Newest        int     // number of newest values
	Before, After float64 // medians
	// Deviation is the standard deviation of the values before, and Rank the p-value of the rank test.
	Deviation, Rank float64
	// P is the probability of such a difference of levels by chance, for normally distributed
	// values. It is corrected for the numbers of newest values that were tried.
	P float64

	before int     // number of values before
	apart  bool    // the newest are all above, or all below, the values before
	t      float64 // difference of levels in relation to its standard deviation
}

// Newest returns the most significant step at the end of a series that is level before it. It tries
// up to 10 newest values, and chooses the number whose difference from the values before is largest
// in relation to their noise. It returns false if there are too few values.
//
// The noise is estimated from single values before the step and from sums of consecutive ones: a
// series that drifts, or whose values resemble their neighbors, has more of it.
func (r *Test) Newest(values []float64) (Step, bool) {
	var best Step
	tried := min(mostNewest, len(values)-LeastBefore)
	newest := func(k int) Step {
		s := r.Compare(values[:len(values)-k], values[len(values)-k:])
		s.P = min(1, s.P*float64(tried))
		return s
	}
	for k := 1; k <= tried; k++ {
		if s := newest(k); k == 1 || s.P < best.P || s.P == best.P && (s.t > best.t || s.t == best.t && s.Rank < best.Rank) {
			best = s
		}
	}
	if tried > 0 && best.P <= MaybeChance { // the most significant place need not be the one that fits best
		if k := len(values) - fit(values, len(values)-best.Newest); k != best.Newest && k <= tried {
			if s := newest(k); s.P <= MaybeChance {
				best = s
			}
		}
	}
	return best, tried > 0
}

// Compare compares values of one level with the values before them. P is not corrected for the
// number of comparisons.
func (r *Test) Compare(before, after []float64) Step {
	s := compareLevels(before, after)
	scores, u, ties := midranks(before, after)
	s.Rank = r.exactP(scores, len(before), u, ties, rankChance)
	s.apart = slices.Min(after) > slices.Max(before) || slices.Max(after) < slices.Min(before)
	return s
}

// compareLevels is Compare without ranks.
func compareLevels(before, after []float64) Step {
	s := Step{Newest: len(after), Before: median(before), After: median(after), before: len(before)}
	s.Deviation = deviation(before, len(after))
	s.t, s.P = s.chance(difference(before, after), len(after))
	return s
}

// chance returns t and the p-value of a difference between k newest values and the values before them.
func (s Step) chance(difference float64, k int) (t, p float64) {
	if difference == 0 || math.Abs(s.After-s.Before) < SmallestChange*math.Abs(s.Before) {
		return 0, 1
	}
	t = difference / (s.Deviation * math.Sqrt(1/float64(k)+1/float64(s.before)))
	return t, student(t, s.before-1)
}

// rankChance returns the p-value of the rank test that the step needs to be sure.
func (s Step) rankChance() float64 {
	if s.Deviation == 0 {
		return rankChanceEqual
	}
	return rankChance
}

// Sure reports whether the step is significant by both tests. chance bounds the probability that it
// is not real.
func (s Step) Sure(chance float64) bool { return s.P <= chance && s.Rank <= s.rankChance() }

// Maybe reports whether the step would be sure if more values like the newest followed.
func (s Step) Maybe() bool { return s.P <= MaybeChance && (s.Rank <= s.rankChance() || s.apart) }

// More returns how many more values like the newest make the step sure, at most limit. chance is
// for a p-value that is not corrected for the number of comparisons.
func (s Step) More(chance float64, limit int) int {
	for more := range limit {
		k := s.Newest + more
		if _, p := s.chance(math.Abs(s.After-s.Before), k); Smallest(s.before, k) <= s.rankChance() && p <= chance {
			return more
		}
	}
	return limit
}

// Interval returns the confidence interval of the difference of the levels, as the ratio of the
// values after to the values before; NaN if the level before is 0.
func (s Step) Interval(level float64) (low, high float64) {
	if s.Before == 0 {
		return math.NaN(), math.NaN()
	}
	low, high = 0.0, 1e6 // t is between these
	for range 60 {
		if middle := (low + high) / 2; student(middle, s.before-1) > 1-level {
			low = middle
		} else {
			high = middle
		}
	}
	around := high * s.Deviation * math.Sqrt(1/float64(s.Newest)+1/float64(s.before)) / s.Before
	ratio := s.After / s.Before
	return max(0, ratio-around), ratio + around
}

// difference returns how far the levels of two groups are apart: the difference of their means or
// of their medians, whichever is smaller, so that a single outlier has little effect.
func difference(before, after []float64) float64 {
	return min(math.Abs(mean(after)-mean(before)), math.Abs(median(after)-median(before)))
}

// deviation returns the standard deviation of a value that explains the variation of single values
// and of the means of up to most consecutive values. If values are independent, it is the usual one.
func deviation(values []float64, most int) (largest float64) {
	for length := 1; length <= max(1, min(most, len(values)/4)); length++ {
		sum, windows := 0.0, len(values)-length+1
		level := mean(values)
		for i := range windows {
			d := mean(values[i:i+length]) - level
			sum += d * d
		}
		degrees := float64(len(values))/float64(length) - 1 // windows overlap
		scale := float64(len(values)) / float64(length) / float64(windows)
		largest = max(largest, math.Sqrt(sum*scale/degrees*float64(length)))
	}
	return largest
}

// least is the smallest p-value that student distinguishes from 0.
const least = 1e-14

// student returns the two-sided p-value of t with a number of degrees of freedom (Abramowitz and
// Stegun, 26.7.3 and 26.7.4), or least if it is smaller.
func student(t float64, degrees int) float64 {
	angle := math.Atan(t / math.Sqrt(float64(degrees)))
	sin, cos := math.Sincos(angle)
	term, sum := 1.0, 0.0
	first := 2 + degrees%2 // the first even, or odd, number of the series
	if degrees%2 == 1 {
		term = cos
	}
	for n := first; n <= degrees; n += 2 {
		sum += term
		term *= cos * cos * float64(n-1) / float64(n)
	}
	if degrees%2 == 1 {
		return max(least, 1-2/math.Pi*(angle+sin*sum))
	}
	return max(least, 1-sin*sum)
}

func mean(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
