package compare

import (
	"cmp"
	"math"
	"slices"

	"stackmill/queries/rank"
)

// Row is the result for one item. Unknown numbers are NaN.
type Row struct {
	Names        []string // values of the subject's name columns
	Matched      string   // how the base's item was matched with the test's
	Base, Test   float64  // medians over the runs
	BaseN, TestN int      // runs that have it
	Difference   float64  // of the medians
	Ratio        float64  // test to base, within blocks or pairs if the design has them; infinite if the base is 0
	Low, High    float64  // confidence bounds of the ratio
	P, Q         float64  // p-value, and q-value (adjusted for all judged rows)
	Judged       bool     // whether it is large enough to be tested
	Noise        float64  // relative change that halves of the base's runs seldom exceed
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
	// Ambiguous is the verdict on a function with candidates on the other side, none of them certain.
	Ambiguous = "ambiguous"
)

// Changed reports whether the two sides differ.
func (r *Row) Changed() bool {
	return r.Verdict != Same && r.Verdict != TooFew && r.Verdict != Ambiguous
}

// bySize orders rows: changed and ambiguous ones first, then by the size of the difference.
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

// matters reports whether an item is large enough to be judged, by its share in the sum of both
// sides: a share in one side would favor items that differ.
func (c *comparison) matters(it *item, total []float64) bool {
	sum, all := 0.0, 0.0
	for n := range total {
		sum, all = sum+it.values[n], all+total[n]
	}
	return sum > 0 && sum >= c.MinShare*all
}

// row computes the row of an item and, if the item matters, tests it.
func (c *comparison) row(it *item, matters bool) Row {
	base, test := c.of(it.values)
	r := Row{Names: it.names, Matched: it.matched, Judged: matters, BaseN: nonzero(base), TestN: nonzero(test), Low: math.NaN(), High: math.NaN(), P: math.NaN(), Q: math.NaN(), Noise: math.NaN(), values: it.values}
	r.Base, r.Test = rank.Median(slices.Sorted(slices.Values(base))), rank.Median(slices.Sorted(slices.Values(test)))
	r.Difference, r.Ratio = r.Test-r.Base, r.Test/r.Base
	if ratio := c.ratio(base, test); c.Design.Blocks > 1 && !math.IsNaN(ratio) {
		r.Ratio = ratio
	}
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
		r.P = c.p(base, test)
		if low, high := c.interval(base, test); !math.IsInf(low, 1) && (low > 0 || !math.IsInf(high, 1)) {
			r.Low, r.High = low, high
		}
	case c.sampled:
		c.bySampling(&r, base, test)
	default:
		r.P = c.p(base, test)
	}
	return r
}

// exact reports whether values have no noise: every event was recorded, and the runs of each side
// all have the same value.
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
