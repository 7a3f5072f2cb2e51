package compare

import (
	"cmp"
	"math"
	"slices"

	"stackmill/queries/rank"
)

// Row is what is known of one item. Unknown numbers are not a number.
type Row struct {
	Names        []string // by the columns of the subject
	Matched      string   // how the base's item was found to be the test's
	Base, Test   float64  // medians over the runs
	BaseN, TestN int      // runs that have it
	Difference   float64  // of the medians
	Ratio        float64  // test to base; infinite if the base is 0
	Low, High    float64  // bounds of the ratio
	P, Q         float64  // how likely chance alone is; the same, with all rows judged in mind
	Judged       bool     // whether it is large enough to be tested
	Noise        float64  // the change, as a part of 1, that halves of the base's runs seldom exceed
	Verdict      string

	values []float64
	exact  bool // whether its values have no noise
}

// The verdicts.
const (
	Slower   = "slower"
	Faster   = "faster"
	Same     = "same"
	Appeared = "appeared"
	Vanished = "vanished"
	TooFew   = "too few runs"
	// Ambiguous is a function that may be one of several of the other side.
	Ambiguous = "ambiguous"
)

// Changed reports whether the two sides differ.
func (r *Row) Changed() bool {
	return r.Verdict != Same && r.Verdict != TooFew && r.Verdict != Ambiguous
}

// bySize sorts rows: what has changed, or may have changed, first, then by the size of the
// difference.
func bySize(a, b Row) int {
	if x, y := a.Changed() || a.Verdict == Ambiguous, b.Changed() || b.Verdict == Ambiguous; x != y {
		if x {
			return -1
		}
		return 1
	}
	return cmp.Or(-cmp.Compare(math.Abs(a.Difference), math.Abs(b.Difference)), slices.Compare(a.Names, b.Names))
}

func count(which []bool) (n int) {
	for _, is := range which {
		if is {
			n++
		}
	}
	return n
}

// matters reports whether an item is large enough to be judged. That depends on both sides
// together, so that it does not favour what differs.
func (c *comparison) matters(it *item, total []float64) bool {
	sum, all := 0.0, 0.0
	for n := range total {
		sum, all = sum+it.values[n], all+total[n]
	}
	return sum > 0 && sum >= c.MinShare*all
}

// row measures an item and, if it matters, tests it.
func (c *comparison) row(it *item, matters bool) Row {
	u := &c.ranks
	base, test := c.of(it.values)
	r := Row{Names: it.names, Matched: it.matched, Judged: matters, BaseN: nonzero(base), TestN: nonzero(test), Low: math.NaN(), High: math.NaN(), P: math.NaN(), Q: math.NaN(), Noise: math.NaN(), values: it.values}
	r.Base, r.Test = rank.Median(slices.Sorted(slices.Values(base))), rank.Median(slices.Sorted(slices.Values(test)))
	r.Difference, r.Ratio = r.Test-r.Base, r.Test/r.Base
	switch {
	case !matters:
		r.Verdict = Same
	case it.ambiguous:
		r.Verdict = Ambiguous
	case c.exact(base, test):
		if r.exact = true; base[0] > 0 {
			r.Low, r.High = r.Ratio, r.Ratio
		}
	case len(base) > 1 && len(test) > 1:
		r.P = u.P(base, test)
		if low, high := u.RatioInterval(base, test, c.level); !math.IsInf(low, 1) && (low > 0 || !math.IsInf(high, 1)) {
			r.Low, r.High = low, high
		}
	case c.sampled:
		c.bySampling(&r, base, test)
	default:
		r.P = u.P(base, test)
	}
	return r
}

// exact reports whether values have no noise: those of events that were all recorded, and
// that are the same in all runs of a side.
func (c *comparison) exact(base, test []float64) bool {
	return !c.sampled && slices.Min(base) == slices.Max(base) && slices.Min(test) == slices.Max(test)
}

func nonzero(values []float64) (n int) {
	for _, v := range values {
		if v != 0 {
			n++
		}
	}
	return n
}
