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
	By     string // one of Origins: stacks are told apart by it; empty: they are not
}

// Origins are what stacks can be told apart by.
var Origins = []string{byThread, byName}

const (
	byThread = "thread"
	byName   = "thread-name" // of all threads while they have the name
	byOrigin = "origin"      // all that is known of where a sample was taken
)

// format is a way out.
type format struct {
	name    string
	several bool    // whether it holds several metrics
	names   bool    // whether names of functions are enough for it
	threads support // whether it tells threads apart
	inline  support // whether inlined functions are frames of their own
	write   func(context.Context, *selection, io.Writer) error
}

// support is whether a format holds something.
type support uint8

const (
	always support = iota // in a way of its own
	onRequest
	never
)

var formats = []format{
	{name: "pprof", several: true, names: true, write: writePprof},
	{name: "folded", names: true, threads: onRequest, inline: onRequest, write: writeFolded},
	{name: "speedscope", names: true, threads: onRequest, inline: onRequest, write: writeSpeedscope},
	{name: "firefox", write: writeFirefox},
	{name: "callgrind", several: true, threads: onRequest, inline: never, write: writeCallgrind},
	{name: "autofdo", threads: never, write: writeAutoFDO},
	{name: "pgo", threads: never, write: writePGO},
}

// checkOptions returns an error if Inline or By do not apply to the format.
func (r *Request) checkOptions() error {
	for _, o := range []struct {
		name, has string
		given     bool
		of        func(f *format) support
	}{
		{"--inline", "inlined functions", r.Inline, func(f *format) support { return f.inline }},
		{"--by", "threads", r.By != "", func(f *format) support { return f.threads }},
	} {
		if !o.given {
			continue
		}
		var do []string
		for i := range formats {
			if o.of(&formats[i]) == onRequest {
				do = append(do, formats[i].name)
			}
		}
		switch o.of(r.format()) {
		case always:
			return fmt.Errorf("%s: %s always has %s (%s have them with %s)", o.name, r.As, o.has, strings.Join(do, ", "), o.name)
		case never:
			return fmt.Errorf("%s has no effect on %s (it applies to %s)", o.name, r.As, strings.Join(do, ", "))
		}
	}
	return nil
}

// format returns the format that is asked for, which must be one of Formats.
func (r *Request) format() *format { return &formats[slices.Index(Formats(), r.As)] }

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
		return fmt.Errorf("--mode: unknown mode %q (one of %s)", r.Mode, strings.Join(Modes, ", "))
	case r.By != "" && !slices.Contains(Origins, r.By):
		return fmt.Errorf("--by: stacks cannot be separated by %q%s (one of %s)", r.By, queries.Suggest(r.By, Origins), strings.Join(Origins, ", "))
	}
	return r.checkOptions()
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
	f := r.format()
	s := &selection{on: on, mode: r.Mode, inline: r.Inline, by: r.By}
	if store, ok := on.(*queries.DB); ok {
		s.leftOut = store.LeftOut()
	}
	if f.threads == always {
		s.by = byOrigin
	}
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
	by      string // of Origins, or byOrigin: what stacks are told apart by; empty: nothing
	many    bool   // whether there are several experiments
	title   string
	leftOut []string   // remarks about what the store lacks
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
