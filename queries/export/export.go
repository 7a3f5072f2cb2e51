// Package export writes the stacks of a store in the formats of other tools.
//
// Start reading with Write, and formats, which lists the formats; each has a file.
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

// Querier runs SQL over the views. It is a store, or a connection in which the views are filtered.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Request says what to export of the experiments of an open store.
type Request struct {
	As     string   // one of Formats
	Metric string   // "": all metrics; for formats that hold one metric, the default metric
	Mode   string   // user, expert or machine
	Inline bool     // inlined functions are separate frames
	By     string   // one of Origins, which separates equal stacks; "": equal stacks are summed
	Filter []string // the filter's conditions, for formats that show them
}

// Origins are the properties of samples by which equal stacks can be separated.
var Origins = []string{byThread, byName}

const (
	byThread = "thread"
	byName   = "thread-name" // the name that the thread had at the time; threads with the same name are summed
	byOrigin = "origin"      // all properties in origin
)

type format struct {
	name         string
	multiMetric  bool    // it can hold several metrics
	acceptsNames bool    // it can be made from rows of a query, which have only names of functions
	threads      support // whether stacks are separated by thread
	inline       support // whether inlined functions are separate frames
	write        func(context.Context, *selection, io.Writer) error
}

// support says whether an export in a format has a property.
type support uint8

const (
	always support = iota
	onRequest
	never
)

var formats = []format{
	{name: "pprof", multiMetric: true, acceptsNames: true, write: writePprof},
	{name: "folded", acceptsNames: true, threads: onRequest, inline: onRequest, write: writeFolded},
	{name: "speedscope", acceptsNames: true, threads: onRequest, inline: onRequest, write: writeSpeedscope},
	{name: "firefox", write: writeFirefox},
	{name: "callgrind", multiMetric: true, threads: onRequest, inline: never, write: writeCallgrind},
	{name: "autofdo", threads: never, write: writeAutoFDO},
	{name: "pgo", threads: never, write: writePGO},
	{name: "html", acceptsNames: true, threads: onRequest, inline: onRequest, write: writeHTML},
	{name: "svg", acceptsNames: true, threads: onRequest, inline: onRequest, write: writeSVG},
}

// checkOptions returns an error if Inline or By has no effect on the format.
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

// format returns the requested format, which must be one of Formats.
func (r *Request) format() *format { return &formats[slices.Index(Formats(), r.As)] }

// Formats returns the names of the formats.
func Formats() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// noStack is the frame of samples without a stack.
const noStack = "<no stack>"

// Modes are the representations of stacks.
var Modes = []string{"user", "expert", "machine"}

// Check returns an error if the request cannot be valid for any store. others are further formats to name in errors.
func (r *Request) Check(others ...string) error {
	all := slices.Concat(Formats(), others)
	switch {
	case r.As == "":
		return fmt.Errorf("--as is missing (choose one of %s)", strings.Join(all, ", "))
	case !slices.Contains(Formats(), r.As):
		return fmt.Errorf("--as: no format %q%s (choose one of %s)", r.As, queries.Suggest(r.As, all), strings.Join(all, ", "))
	case !slices.Contains(Modes, r.Mode):
		return fmt.Errorf("--mode: unknown mode %q (choose one of %s)", r.Mode, strings.Join(Modes, ", "))
	case r.By != "" && !slices.Contains(Origins, r.By):
		return fmt.Errorf("--by: stacks cannot be separated by %q%s (choose one of %s)", r.By, queries.Suggest(r.By, Origins), strings.Join(Origins, ", "))
	}
	return r.checkOptions()
}

// Reads returns the views that an export reads, for queries.DB.Filter.
func (r *Request) Reads() []string {
	reads := []string{"default_metrics", "leaf_values", "mode_leaves", "mode_nodes", "sample_metrics"}
	if r.As == "html" {
		reads = append(reads, "stack_values", "unattributed", "line_metrics", "inline_line_metrics")
	}
	return reads
}

// ErrNothing says that no sample has a value of the metrics.
var ErrNothing = errors.New("no sample has a value")

// Write writes an export to w. Experiments without the metric contribute nothing.
func Write(ctx context.Context, on Querier, r Request, w io.Writer) error {
	f, s, err := prepare(ctx, on, r)
	if err != nil {
		return err
	}
	return f.write(ctx, s, w)
}

// Possible returns the error that Write would return before it reads samples.
func Possible(ctx context.Context, on Querier, r Request) error {
	_, _, err := prepare(ctx, on, r)
	return err
}

// prepare returns the format and the selection of a request.
func prepare(ctx context.Context, on Querier, r Request) (*format, *selection, error) {
	f := r.format()
	s := &selection{on: on, mode: r.Mode, inline: r.Inline, by: r.By, filter: r.Filter}
	if store, ok := on.(*queries.DB); ok {
		s.leftOut = store.LeftOut()
	}
	if f.threads == always {
		s.by = byOrigin
	}
	if err := s.choose(ctx, r.Metric, f.multiMetric); err != nil {
		return nil, nil, err
	}
	return f, s, s.checkValues(ctx)
}

// selection is what to export: the samples and metrics of open experiments.
type selection struct {
	on       Querier
	mode     string
	inline   bool // whether inlined functions are separate frames
	metrics  []metric
	by       string // one of Origins, or byOrigin: equal stacks are separated by it; "": they are summed
	multiple bool   // there are several experiments
	title    string
	filter   []string   // conditions of the filter
	leftOut  []string   // warnings about experiments missing from the export
	total    []int64    // by metric: sum of the samples sent to the sink so far
	rows     *stackRows // rows of a query, to export instead of samples of a store; nil for a store
}

type metric struct{ name, unit string }

// checkValues returns ErrNothing if no sample has a value of any metric.
func (s *selection) checkValues(ctx context.Context) error {
	names := make([]string, len(s.metrics))
	for i, m := range s.metrics {
		names[i] = m.name
	}
	nothing := ErrNothing
	err := scan(ctx, s.on, "SELECT value FROM stack_values WHERE value <> 0 AND metric IN ("+queries.Quote(names...)+") LIMIT 1", func() error { nothing = nil; return nil }, new(int64))
	return cmp.Or(err, nothing)
}

// choose sets the metrics: the named one or, without a name, all (if several is set) or the default one.
func (s *selection) choose(ctx context.Context, name string, several bool) error {
	known, first, err := s.listMetrics(ctx)
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
		return fmt.Errorf("no experiment has samples, so there is no metric")
	case len(s.metrics) == 0:
		return fmt.Errorf("no metric %q%s (choose one of %s)", name, queries.Suggest(name, names), strings.Join(names, ", "))
	case several:
		return nil
	case len(first) > 1 && name == "":
		return fmt.Errorf("the experiments have different default metrics: %s (choose one with --metric, or fewer experiments)", strings.Join(first, ", "))
	}
	s.metrics = s.metrics[:1]
	return nil
}

// listMetrics returns the metrics of all experiments, the default metrics first, and the names of the default
// metrics.
func (s *selection) listMetrics(ctx context.Context) (known []metric, first []string, err error) {
	var m metric
	err = scan(ctx, s.on, "SELECT DISTINCT metric, unit FROM metrics", func() error {
		at := slices.IndexFunc(known, func(k metric) bool { return k.name == m.name })
		if at >= 0 {
			return fmt.Errorf("metric %s has the unit %s in one experiment and %s in another (choose fewer with --experiment)", m.name, known[at].unit, m.unit)
		}
		known = append(known, m)
		return nil
	}, &m.name, &m.unit)
	if err != nil {
		return nil, nil, err
	}
	var name string
	err = scan(ctx, s.on, "SELECT DISTINCT metric FROM default_metrics WHERE metric IS NOT NULL ORDER BY metric", func() error { first = append(first, name); return nil }, &name)
	shown := func(m metric) int { return min(slices.Index(first, m.name), 0) } // 0 for default metrics, -1 for others
	slices.SortFunc(known, func(a, b metric) int { return cmp.Or(shown(b)-shown(a), schema.CompareMetrics(a.name, b.name)) })
	return known, first, err
}
