// Package export writes the stacks of a store as other tools read them.
package export

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"stackmill/queries"
	"stackmill/schema"
)

// Querier runs SQL over the views: a store, or a connection whose views are narrowed.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Request is what to export of the experiments that the store was opened with.
type Request struct {
	As     string // one of Formats
	Metric string // empty: all, or the first where a format has but one
	Mode   string // user, expert or machine
	Inline bool   // inlined functions are frames of their own
}

// format is a way out.
type format struct {
	name    string
	several bool // whether it holds several metrics
	names   bool // whether names of functions are enough for it
	threads bool // whether it tells threads apart
	inline  inlining
	write   func(context.Context, *selection, io.Writer) error
}

// inlining is how a format shows inlined functions.
type inlining uint8

const (
	always    inlining = iota // the format has a way of its own to tell them from others
	onRequest                 // frames of their own, if that is asked for
	never
)

var formats = []format{
	{name: "pprof", several: true, names: true, threads: true, write: writePprof},
	{name: "folded", names: true, inline: onRequest, write: writeFolded},
	{name: "speedscope", names: true, inline: onRequest, write: writeSpeedscope},
	{name: "firefox", write: writeFirefox},
	{name: "callgrind", several: true, inline: never, write: writeCallgrind},
	{name: "autofdo", write: writeAutoFDO},
	{name: "pgo", write: writePGO},
}

// checkInline returns an error if Request.Inline does not apply to the format.
func (r *Request) checkInline() error {
	var do []string
	for _, f := range formats {
		if f.inline == onRequest {
			do = append(do, f.name)
		}
	}
	switch f := formats[slices.Index(Formats(), r.As)]; {
	case r.Inline && f.inline == always:
		return fmt.Errorf("--inline: %s always has inlined functions (%s have them with --inline)", r.As, strings.Join(do, ", "))
	case r.Inline && f.inline == never:
		return fmt.Errorf("--inline: it has no effect on %s (it applies to %s)", r.As, strings.Join(do, ", "))
	}
	return nil
}

// Formats are the names of what stacks can be written as.
func Formats() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// noStack stands for the stack of samples that have none.
const noStack = "<no stack>"

// Modes are the representations.
var Modes = []string{"user", "expert", "machine"}

// Check says what is wrong with a request, as far as that shows without a store.
func (r *Request) Check(others ...string) error {
	all := slices.Concat(Formats(), others)
	switch {
	case r.As == "":
		return fmt.Errorf("--as: no format given (one of %s)", strings.Join(all, ", "))
	case !slices.Contains(Formats(), r.As):
		return fmt.Errorf("--as: no format %q%s (one of %s)", r.As, queries.Suggest(r.As, all), strings.Join(all, ", "))
	case !slices.Contains(Modes, r.Mode):
		return fmt.Errorf("--mode: no mode %q (one of %s)", r.Mode, strings.Join(Modes, ", "))
	}
	return r.checkInline()
}

// Reads are the views that a format reads: a session that is narrowed for it needs no other.
func (r *Request) Reads() []string {
	return []string{"default_metrics", "leaf_values", "mode_leaves", "mode_nodes", "sample_metrics"}
}

// ErrNothing says that there is no value to write.
var ErrNothing = errors.New("no sample with a value is left")

// Write writes what is asked for. Experiments without the metric count nothing.
func Write(ctx context.Context, on Querier, r Request, w io.Writer) error {
	f, s, err := selected(ctx, on, r)
	if err != nil {
		return err
	}
	return f.write(ctx, s, w)
}

// Possible returns the error of what cannot be written, as Write does, before anything is read.
func Possible(ctx context.Context, on Querier, r Request) error {
	_, _, err := selected(ctx, on, r)
	return err
}

// selected chooses what is written, and how.
func selected(ctx context.Context, on Querier, r Request) (*format, *selection, error) {
	f := &formats[slices.Index(Formats(), r.As)]
	s := &selection{on: on, mode: r.Mode, inline: r.Inline, threads: f.threads}
	if err := s.choose(ctx, r.Metric, f.several); err != nil {
		return nil, nil, err
	}
	return f, s, s.any(ctx)
}

// selection is what is exported of a store.
type selection struct {
	on      Querier
	mode    string
	inline  bool // whether inlined functions are frames of their own
	metrics []metric
	threads bool // whether stacks of different threads are told apart
	many    bool // whether there are several experiments
	title   string
	total   []int64    // of the samples that were sent, by metric
	rows    *stackRows // of a query, in place of all of that
}

// metric is one of the values that each stack has.
type metric struct{ name, unit string }

// any returns ErrNothing if no sample counts for any of the metrics.
func (s *selection) any(ctx context.Context) error {
	names := make([]string, len(s.metrics))
	for i, m := range s.metrics {
		names[i] = m.name
	}
	nothing := ErrNothing
	err := scan(ctx, s.on, "SELECT value FROM stack_values WHERE value <> 0 AND metric IN ("+queries.Quote(names...)+") LIMIT 1", func() error { nothing = nil; return nil }, new(int64))
	return cmp.Or(err, nothing)
}

// choose finds the metrics: the one that is named, or all in the order in which they are
// shown, of which some formats hold but the first.
func (s *selection) choose(ctx context.Context, name string, several bool) error {
	known, first, err := s.known(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, m := range known {
		names = append(names, m.name)
		if name == "" || name == m.name {
			s.metrics = append(s.metrics, m)
		}
	}
	switch {
	case len(known) == 0:
		return fmt.Errorf("there is no metric: no experiment has samples")
	case len(s.metrics) == 0:
		return fmt.Errorf("no metric %q%s (there are %s)", name, queries.Suggest(name, names), strings.Join(names, ", "))
	case several:
		return nil
	case len(first) > 1 && name == "":
		return fmt.Errorf("the experiments have no first metric in common: %s (name one with --metric, or fewer experiments)", strings.Join(first, ", "))
	}
	s.metrics = s.metrics[:1]
	return nil
}

// known returns the metrics of the experiments in the order in which they are shown, and
// those that an experiment's reports show.
func (s *selection) known(ctx context.Context) (known []metric, first []string, err error) {
	var m metric
	err = scan(ctx, s.on, "SELECT DISTINCT metric, unit FROM metrics", func() error {
		at := slices.IndexFunc(known, func(k metric) bool { return k.name == m.name })
		if at >= 0 {
			return fmt.Errorf("metric %s is in %s in one experiment and in %s in another (choose fewer with --experiment)", m.name, known[at].unit, m.unit)
		}
		known = append(known, m)
		return nil
	}, &m.name, &m.unit)
	if err != nil {
		return nil, nil, err
	}
	var name string
	err = scan(ctx, s.on, "SELECT DISTINCT metric FROM default_metrics WHERE metric IS NOT NULL ORDER BY metric", func() error { first = append(first, name); return nil }, &name)
	shown := func(m metric) int { return min(slices.Index(first, m.name), 0) } // -1 if it is not
	slices.SortFunc(known, func(a, b metric) int { return cmp.Or(shown(b)-shown(a), schema.CompareMetrics(a.name, b.name)) })
	return known, first, err
}
