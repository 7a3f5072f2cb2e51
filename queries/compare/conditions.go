package compare

import (
	"maps"
	"math"
	"slices"
)

// Condition is a property of the runs other than their values, such as the host or the build, on both sides.
type Condition struct {
	What   string       `json:"what"`
	Base   []ValueCount `json:"base"` // sorted by value
	Test   []ValueCount `json:"test"`
	Same   bool         `json:"same"`   // whether both sides have the same set of values
	Unfair bool         `json:"unfair"` // whether a difference, and not the code, may be the cause of differences
}

// ValueCount is a value with the number of runs that have it.
type ValueCount struct {
	Value string `json:"value"`
	Runs  int    `json:"runs"`
}

// newCondition counts the values of both sides, one per run.
func newCondition(what string, values [2][]string, unfair bool) Condition {
	d := Condition{What: what, Unfair: unfair}
	for side, counts := range []*[]ValueCount{&d.Base, &d.Test} {
		of := map[string]int{}
		for _, v := range values[side] {
			of[v]++
		}
		*counts = []ValueCount{}
		for _, v := range slices.Sorted(maps.Keys(of)) {
			*counts = append(*counts, ValueCount{v, of[v]})
		}
	}
	d.Same = slices.EqualFunc(d.Base, d.Test, func(a, b ValueCount) bool { return a.Value == b.Value })
	return d
}

// known reports whether a run has a value.
func (d *Condition) known() bool {
	return slices.ContainsFunc(slices.Concat(d.Base, d.Test), func(v ValueCount) bool { return v.Value != "" })
}

// valuesOf returns the values of a side without their counts.
func valuesOf(counts []ValueCount) (values []string) {
	for _, v := range counts {
		values = append(values, v.Value)
	}
	return values
}

// RunValue is a run with its value of <Total>, for JSON.
type RunValue struct {
	Experiment string  `json:"experiment"`
	Started    string  `json:"started"` // UTC; empty if unknown
	Host       string  `json:"host"`
	Build      string  `json:"build"` // the beginning of the program's build-id, or of a hash without one; empty if unknown
	Value      float64 `json:"value"` // after normalization
}

// runValues returns the runs of both sides with their values of <Total>.
func (c *comparison) runValues() (of [2][]RunValue) {
	total := c.items[0].values
	for n, r := range c.runs {
		build := c.programs[n]
		side := c.side(int64(n))
		of[side] = append(of[side], RunValue{c.name(n), r.started, r.host, build[:min(len(build), 12)], total[n]})
	}
	return of
}

// Rest sums the rows that are too small to be judged.
type Rest struct {
	Rows int     `json:"rows"`
	Base float64 `json:"base"` // sum of the medians
	Test float64 `json:"test"`
}

// Small sums the rows that are too small to be judged: their share of <Total> is below MinShare.
func (r *Result) Small() (sum Rest) {
	for i := range r.Rows {
		if row := &r.Rows[i]; i > 0 && !row.Judged {
			sum.Rows++
			sum.Base, sum.Test = sum.Base+finite(row.Base), sum.Test+finite(row.Test)
		}
	}
	return sum
}

func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
