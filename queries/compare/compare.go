// Package compare says what differs between two groups of experiments: which functions,
// lines or data objects take more or less in one than in the other, and how sure that is.
package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
	"stackmill/queries/rank"
)

// Request says what to compare. Defaults() has what is seldom wished otherwise.
type Request struct {
	Base, Test []string // selectors of the two groups
	By         string   // what a row is: a name of Subjects
	Metric     string   // empty: the first that all experiments have
	Mode       string   // user, expert or machine
	Inclusive  bool     // inclusive values rather than exclusive ones
	Normalise  string   // one of Normalisations

	FDR       float64 // the rate of false discoveries that is accepted
	Level     float64 // of the intervals
	MinChange float64 // changes below are none
	MinShare  float64 // rows with a smaller share of <Total> in both groups are not judged

	Where    []string // conditions of the samples that the session has, to be told with the result
	Hidden   []string // functions that it does not show, likewise
	Together bool     // whether the intervals' lower bounds are right for all judged rows at once
}

// Normalisations are the ways to make values of runs of different length comparable: as
// they are, as parts of their run's <Total>, or by the second of their run.
var Normalisations = []string{"none", "total", "run"}

// Defaults() are the settings without a wish.
func Defaults() Request {
	return Request{By: "function", Mode: "user", Normalise: "none", FDR: 0.03, Level: 0.95, MinChange: 0.01, MinShare: 0.001}
}

// Check says what is wrong with a request, as far as that shows without a store.
func (r *Request) Check() error {
	switch {
	case len(r.Base) == 0:
		return fmt.Errorf("--base: nothing says which experiments are the reference")
	case len(r.Test) == 0:
		return fmt.Errorf("--test: nothing says which experiments to compare with the base")
	case subjects[r.By] == nil:
		return fmt.Errorf("--by: no such rows %q (one of %s)", r.By, strings.Join(Subjects, ", "))
	case r.Inclusive && subjects[r.By].data:
		return fmt.Errorf("--inclusive: it has no effect on %s, since data objects have one value (it applies to function, line, load-object and path)", r.By)
	case !slices.Contains(modes, r.Mode):
		return fmt.Errorf("--mode: no mode %q (one of user, expert, machine)", r.Mode)
	case !slices.Contains(Normalisations, r.Normalise):
		return fmt.Errorf("--normalise: no way %q (one of %s)", r.Normalise, strings.Join(Normalisations, ", "))
	case r.FDR <= 0 || r.FDR >= 1:
		return fmt.Errorf("--fdr: %v is not between 0 and 1", r.FDR)
	case r.Level <= 0 || r.Level >= 1:
		return fmt.Errorf("--level: %v is not between 0 and 1", r.Level)
	case r.MinChange < 0 || r.MinShare < 0:
		return fmt.Errorf("--min-change and --min-share: a limit is below 0")
	}
	return nil
}

// Choose notes the filter of the session in which the request is answered. It is an error if a
// part of the filter has no effect.
func (r *Request) Choose(f *queries.Filter) (err error) {
	if subjects[r.By].data && len(f.Hide)+len(f.APIOnly) > 0 {
		return fmt.Errorf("--hide and --api-only: they have no effect on %s, since data objects are not on stacks", r.By)
	}
	r.Where, err = f.Conditions()
	return err
}

// modes are the names of the modes, as in the columns of value tables.
var modes = []string{"user", "expert", "machine"}

// Result is a comparison.
type Result struct {
	Request
	Unit        string // of the metric; normalised values are parts of 1, or by the second
	Base, Test  Side
	Environment []Difference // what else the sides do not have in common
	Warnings    []string     // why the comparison may be unfair, or says little
	Judged      int          // how many rows were tested, among which discoveries are controlled
	NoiseRuns   int          // runs of one build of the base, whose halves tell the noise; 0 if they are too few
	Rows        []Row        // <Total> first, then what has changed, by size

	sampled bool // whether the values are estimates from samples
}

// Side is one of the two groups.
type Side struct {
	Selectors []string
	Runs      []queries.Experiment
}

// Run compares two groups of experiments of a store.
func Run(ctx context.Context, db *queries.DB, r Request) (*Result, error) {
	c := &comparison{ctx: ctx, db: db, Result: Result{Request: r}}
	for _, step := range []func() error{c.choose, c.chooseMetric, c.measure, c.environment, c.read} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	c.judge()
	c.noise()
	return &c.Result, nil
}

// judge makes the rows, tests them, and sorts them.
func (c *comparison) judge() {
	total := c.items[0].values
	var matter []bool
	for _, it := range c.items {
		matter = append(matter, c.matters(it, total))
	}
	c.level = c.Level
	if n := count(matter); c.Together && n > 0 {
		c.level = 1 - 2*(1-c.Level)/float64(n)
	}
	for i, it := range c.items {
		if i == 0 || slices.Max(it.values) > 0 {
			c.Rows = append(c.Rows, c.row(it, matter[i]))
		}
	}
	c.Judged = discoveries(c.Rows)
	for i := range c.Rows {
		c.Rows[i].Verdict = c.verdict(&c.Rows[i])
	}
	slices.SortFunc(c.Rows[1:], bySize)
}

// comparison is one under way.
type comparison struct {
	Result
	ctx context.Context
	db  *queries.DB

	runs     []run    // of the base, then of the test
	targets  []string // the program of each
	programs []string // its build
	items    []*item
	known    map[any]*item // by their identities, as they were read
	ranks    rank.Test
	level    float64 // of the intervals
}

// run is an experiment in the comparison.
type run struct {
	seconds float64 // how long it took
	weight  float64 // the value of one sample; 0 if unknown, or if each event was recorded
	unit    float64 // what its values are divided by
}

// warn adds a warning.
func (c *comparison) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// of returns the values of a side, of an item's values.
func (c *comparison) of(values []float64) (base, test []float64) {
	return values[:len(c.Base.Runs)], values[len(c.Base.Runs):]
}
