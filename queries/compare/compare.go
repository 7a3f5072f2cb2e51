// Package compare finds what differs between two groups of experiments: which functions, lines,
// load objects, data objects or paths take more or less in one than in the other, and how certain
// that is.
//
// Start reading with Run; match.go finds the same function in another build, verdict.go decides.
package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
	"stackmill/queries/rank"
	"stackmill/queries/report"
)

// Request says what to compare. Defaults has the defaults.
type Request struct {
	Base, Test []string // selectors of the two groups
	By         string   // what a row is: one of Subjects
	Metric     string   // empty: the first that all experiments have
	Mode       string   // user, expert or machine
	Inclusive  bool     // inclusive instead of exclusive values
	Normalize  string   // one of Normalizations
	Pair       string   // key whose values pair runs of both sides (see checkKey); empty: no pairs
	Block      string   // key whose values are blocks of runs, BlockAuto or BlockNone

	FDR       float64 // accepted false discovery rate
	Level     float64 // confidence level of the intervals
	MinChange float64 // smaller changes are ignored
	MinShare  float64 // rows with a smaller share of <Total> are not judged

	Where    []string // the session's conditions on samples, shown with the result
	Hidden   []string // functions that the session hides, shown with the result
	Together bool     // whether lower bounds must hold for all judged rows at once

	good string // name of the base if the request asked for LastGood
}

// Normalizations are the ways to make the values of runs comparable: not at all, as a fraction of
// the run's <Total>, or per second of the run.
var Normalizations = []string{"none", "total", "run"}

// Defaults returns a request with the default settings.
func Defaults() Request {
	return Request{By: "function", Mode: "user", Normalize: "none", Block: BlockAuto, FDR: 0.03, Level: 0.95, MinChange: 0.01, MinShare: 0.001}
}

// Check validates a request as far as possible without a store.
func (r *Request) Check() error {
	switch {
	case len(r.Base) == 0:
		return fmt.Errorf("--base is missing: it selects the experiments to compare with")
	case len(r.Test) == 0:
		return fmt.Errorf("--test is missing: it selects the experiments to compare")
	case subjects[r.By] == nil:
		return fmt.Errorf("--by: cannot compare by %q (choose one of %s)", r.By, strings.Join(Subjects, ", "))
	case r.Inclusive && subjects[r.By].data:
		return fmt.Errorf("--inclusive has no effect on %s, since data objects have one value (it applies to function, line, load-object and path)", r.By)
	case !slices.Contains(report.Modes, r.Mode):
		return fmt.Errorf("--mode: unknown mode %q (choose one of user, expert, machine)", r.Mode)
	case !slices.Contains(Normalizations, r.Normalize):
		return fmt.Errorf("--normalise: unknown normalization %q (choose one of %s)", r.Normalize, strings.Join(Normalizations, ", "))
	case r.Pair != "" && r.Block != BlockAuto && r.Block != BlockNone:
		return fmt.Errorf("--pair and --block exclude each other (runs of a pair are compared with each other only)")
	case !(r.FDR > 0 && r.FDR < 1): // NaN, too
		return fmt.Errorf("--fdr: %v is not between 0 and 1", r.FDR)
	case !(r.Level > 0 && r.Level < 1):
		return fmt.Errorf("--level: %v is not between 0 and 1", r.Level)
	case !(r.MinChange >= 0 && r.MinShare >= 0):
		return fmt.Errorf("--min-change and --min-share: a limit is below 0")
	case r.Pair != "":
		return checkKey("--pair", r.Pair)
	}
	return checkKey("--block", cmp.Or(r.Block, BlockAuto))
}

// Choose records the filter of the session. It returns an error if a part of the filter would have
// no effect on the comparison.
func (r *Request) Choose(f *queries.Filter) (err error) {
	if subjects[r.By].data && len(f.Hide)+len(f.APIOnly) > 0 {
		return fmt.Errorf("--hide and --api-only have no effect on %s, since data objects are not on stacks", r.By)
	}
	r.Where, err = f.Conditions()
	return err
}

// Result is the result of a comparison.
type Result struct {
	Request
	Unit        string // unit of the metric; normalized values are fractions, or per second
	Base, Test  Side
	Design      Design
	Conditions  []Condition  // what else may differ between the sides
	Environment []Difference // the conditions that do
	Warnings    []string     // why the comparison may be unfair or inconclusive
	Judged      int          // number of tested rows, over which the false discovery rate is controlled
	NoiseRuns   int          // runs of one build of the base whose halves show the noise; 0 if they are too few
	Rows        []Row        // <Total> first, then changed rows by size

	runTotals [2][]RunValue // the runs of the base and of the test
	sampled   bool          // whether the values are estimates from samples
	reach     float64       // reach of the intervals (see rank.Reach)
	shortfall Shortfall     // how many more runs intervals need
}

// Side is one of the two groups.
type Side struct {
	Selectors []string
	Runs      []queries.Experiment
}

// Run compares two groups of experiments of a store.
func Run(ctx context.Context, db *queries.DB, r Request) (*Result, error) {
	c := &comparison{ctx: ctx, db: db, Result: Result{Request: r}}
	for _, step := range []func() error{c.choose, c.chooseMetric, c.arrange, c.measure, c.environment, c.read} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	c.judge()
	c.noise()
	c.runTotals = c.runValues()
	return &c.Result, nil
}

// judge computes the rows, tests and sorts them.
func (c *comparison) judge() {
	total := c.items[0].values
	var matter []bool
	for _, it := range c.items {
		matter = append(matter, c.matters(it, total))
	}
	c.level = c.Level
	if n := count(matter); c.Together && n > 0 {
		c.level = 1 - 2*(1-c.Level)/float64(n)
		c.plan()
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

// comparison is the state of a comparison.
type comparison struct {
	Result
	ctx context.Context
	db  *queries.DB

	runs     []run    // those of the base, then those of the test
	targets  []string // each run's program
	programs []string // the build of each program
	items    []*item
	known    map[any]*item // identity of an item, as read -> the item
	ranks    rank.Test
	level    float64 // confidence level of the intervals
}

// run is an experiment in the comparison.
type run struct {
	seconds float64 // duration of the run
	started string  // UTC; empty if unknown
	host    string
	weight  float64 // value of one sample; 0 if unknown, or if each event was recorded
	unit    float64 // divisor of the run's values
}

func (c *comparison) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// of splits values, one per run, by side.
func (c *comparison) of(values []float64) (base, test []float64) {
	return values[:len(c.Base.Runs)], values[len(c.Base.Runs):]
}
