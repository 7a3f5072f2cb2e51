// Package digest finds what changed lately in all programs of a store: since which night, in which
// function, and how certain that is.
//
// Start reading with Run. read.go forms series of experiments and their nights, judge.go finds
// changes, common.go finds changes that many series have in common, details.go explains a change.
package digest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
	"stackmill/queries/rank"
	"stackmill/queries/report"
	"stackmill/queries/trend"
)

// Request selects what a digest covers. Defaults returns the default settings.
type Request struct {
	Since    string   // changes before this night are not reported: 7d, or a night such as 2026-11-21
	Order    string   // what orders the experiments: `started`, another column, or `label=KEY`
	Series   []string // columns of the view series, and labels (`label=KEY`), that distinguish series
	Metric   string   // empty: each experiment's default metric
	Mode     string   // user, expert or machine
	Nights   int      // largest number of nights to read: the newest ones
	Limit    int      // how many series with changes are reported in full; 0: all
	Brief    bool     // whether lines, paths and data objects that carry a change are left out
	MinShare float64  // functions with a smaller share of <Total> are not judged
	Selected []string // the selectors of the session's experiments, which commands repeat
	FDR      float64  // accepted false discovery rate among sure changes
}

// Defaults returns a request with the default settings.
func Defaults() Request {
	return Request{Since: "7d", Order: byStart, Series: []string{"series"}, Mode: "user", Nights: 100, Limit: 5, MinShare: 0.01, FDR: 0.05}
}

const byStart = "started"

// chance bounds the probability that a series has a sure change in one digest although nothing
// changed.
const chance = 0.0001

// keyColumns are the columns of the view series that may distinguish series.
var keyColumns = []string{"series", "program", "command", "events", "host_class", "host", "os", "arch"}

// Check validates a request as far as possible without a store.
func (r *Request) Check() error {
	if _, err := trend.ParseKey(r.Order); err != nil {
		return fmt.Errorf("--order: %w", err)
	}
	for _, k := range r.Series {
		if !slices.Contains(keyColumns, k) && !strings.HasPrefix(k, labelPrefix) {
			return fmt.Errorf("--series: unknown column %q (choose label=KEY or of %s)", k, strings.Join(keyColumns, ", "))
		}
	}
	switch {
	case len(r.Series) == 0:
		return fmt.Errorf("--series: no column is named (choose label=KEY or of %s)", strings.Join(keyColumns, ", "))
	case !slices.Contains(report.Modes, r.Mode):
		return fmt.Errorf("--mode: unknown mode %q (choose one of %s)", r.Mode, strings.Join(report.Modes, ", "))
	case r.Nights <= rank.LeastBefore:
		return fmt.Errorf("--nights: %d is less than %d, which a change needs", r.Nights, rank.LeastBefore+1)
	case r.Limit < 0:
		return fmt.Errorf("--limit: %d is less than 0", r.Limit)
	case !(r.MinShare >= 0 && r.MinShare < 1):
		return fmt.Errorf("--min-share: %v is not between 0 and 1", r.MinShare)
	case !(r.FDR > 0 && r.FDR < 1): // NaN, too
		return fmt.Errorf("--fdr: %v is not between 0 and 1", r.FDR)
	}
	return nil
}

// labelPrefix precedes the key of a label where a column may be named instead.
const labelPrefix = "label="

// Reads returns the tables and views that a digest reads.
func (r *Request) Reads() []string {
	return []string{"experiments", "series", "labels", "metrics", "default_metrics", "function_rollup"}
}

// Result is a digest.
type Result struct {
	Request
	Experiments int // number of experiments in the series
	First, Last string
	Older       int        // number of older nights, which are not read
	SinceNight  string     // the first night whose changes are reported
	Verdicts    []*Verdict // the verdicts on all series
	Sure, Maybe []*Finding // sorted by impact, and by significance
	Common      []Common   // changes that all series of a host have in common
	Together    []Together // changes that many series have since the same night
	Quiet       int        // series without a change
	Short       int        // series with too few nights
	Noise       [2]float64 // median and largest noise of the series
	Warnings    []string
}

// Finding is a series that has changed, or may have.
type Finding struct {
	*Verdict
	*Details // nil for findings that are not reported in full
}

// Together holds the changes of many series since one night, which probably have one cause.
type Together struct {
	Night       Night
	Series      int          // how many series have a change since this night
	Perhaps     int          // how many more may have one
	Of          int          // how many series have values before and after
	Middle      float64      // median over the series of the ratio of <Total> after to before
	Most        []*Finding   // the series that changed most
	Differences []Difference // differences of the series that changed most
}

// Run makes the digest of the experiments of a session.
func Run(ctx context.Context, db *queries.DB, r Request) (*Result, error) {
	d, err := follow(ctx, db, r)
	if err != nil {
		return nil, err
	}
	return &d.Result, nil
}

// follow makes a digest and returns it with its series and their values.
func follow(ctx context.Context, db *queries.DB, r Request) (*digest, error) {
	d := &digest{Result: Result{Request: r}, ctx: ctx, db: db}
	for _, step := range []func() error{d.readRuns, d.readValues, d.judge, d.explain} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// digest is the state of a request that is being executed.
type digest struct {
	Result
	ctx context.Context
	db  *queries.DB

	placed string           // SQL of the experiments in the digest, with their series and night
	nights []string         // all nights, in order
	series []*Series        // the series with values
	at     map[groupKey]int // indexes of groups in their series
	of     map[[2]string]*Series
	since  int
	places map[string]int // a night's place in nights
}

func (d *digest) warn(format string, args ...any) {
	d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...))
}

// judge finds the changes and sorts the series that have any.
func (d *digest) judge() error {
	d.Find(d.series, d.since)
	return nil
}

// Find finds the changes of series since a place in the order of nights. It fills in the result,
// except for the details of the findings.
func (r *Result) Find(series []*Series, since int) {
	verdicts, common := Judge(series, Options{Since: since, MinShare: r.MinShare, Chance: chance, FDR: r.FDR})
	r.Verdicts, r.Common, r.Together = verdicts, common, together(verdicts)
	var noises []float64
	for _, v := range verdicts {
		switch {
		case v.Short:
			r.Short++
			continue
		case v.State == rank.Sure:
			r.Sure = append(r.Sure, &Finding{Verdict: v})
		case v.State == rank.Maybe:
			r.Maybe = append(r.Maybe, &Finding{Verdict: v})
		default:
			r.Quiet++
		}
		noises = append(noises, v.Noise)
	}
	if slices.Sort(noises); noises != nil {
		r.Noise = [2]float64{rank.Median(noises), noises[len(noises)-1]}
	}
	slices.SortStableFunc(r.Sure, func(a, b *Finding) int { return a.byImpact(b.Verdict) })
	slices.SortStableFunc(r.Maybe, func(a, b *Finding) int { return a.bySignificance(b.Verdict) })
}
