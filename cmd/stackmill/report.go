package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackmill/queries"
	"stackmill/schema"
	"stackmill/stages/symbolize/source"
)

// reporter is one call of the verb.
type reporter struct {
	*app
	db *queries.DB
	report
	experiments []string
	metric      string
	mode        string
	function    string
	file        string
	object      string
	sources     []source.Rule
	noRecorded  bool
	alias       string
	limit       int
	sort        string
	inline      bool
	wide        bool
	format      string
	width       time.Duration
}

var (
	reportFormats = []string{"table", "csv", "json", "ndjson", "markdown"}
	modes         = []string{"user", "expert", "machine"}
)

func newReportCommand(a *app) *cobra.Command {
	r := &reporter{app: a}
	sources := new([]string)
	c := &cobra.Command{
		Use:   "report [VIEW]",
		Short: "Print one of the standard views",
		Long: `Prints one of the standard views; without a name, lists them. Tables show times
in seconds and percentages of <Total>; csv, json and ndjson give the view's rows
in base units (ns, bytes, count).

Without --metric the first metric of each experiment is shown, in the order
CPU time, synchronization, heap, I/O; "all" shows every one. The broken sums of
"conservation" are those of all metrics and modes unless one is asked for.`,
		Example: `  stackmill report functions --limit 20
  stackmill report callers-callees --function main --experiment test.1.er
  stackmill report call-tree --mode machine --metric heapallocbytes
  stackmill report lines --format csv > lines.csv
  stackmill report source --function main --source-path /build=$HOME/src
  stackmill report disasm --function main
  stackmill report data-layout --object rec_t`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listReports(r.format)
			}
			err := r.check(args[0])
			if err != nil {
				return err
			}
			if r.sources, err = source.ParseRules(*sources); err != nil {
				return usageErrorf("report: --source-path: %w", err)
			}
			if r.name == "conservation" {
				r.everything(cmd)
			}
			if r.db, err = a.open(cmd.Context(), r.experiments...); err != nil {
				return err
			}
			defer r.db.Close()
			if err := r.run(cmd.Context()); err != nil {
				return fmt.Errorf("report %s: %w", r.name, err)
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringArrayVar(&r.experiments, "experiment", nil, "only this experiment, may be repeated (name, id, or name without directories)")
	f.StringVar(&r.metric, "metric", "", `the metric, or "all" (default: the experiment's first)`)
	f.StringVar(&r.mode, "mode", "user", "user, expert or machine")
	f.StringVar(&r.function, "function", "", "only functions of this name, by any --alias; failing that, whose name contains it or matches it as a regular expression")
	f.StringVar(&r.file, "file", "", "source: this file, named by the end of its path")
	f.StringVar(&r.object, "object", "", "reports of data objects: only those of this descriptor; failing that, whose descriptor contains it or matches it as a regular expression")
	f.StringArrayVar(sources, "source-path", nil, "source and disasm, of text that the store does not have: "+sourcePathHelp)
	f.BoolVar(&r.noRecorded, "no-recorded-sources", false, "source and disasm: "+noRecordedHelp)
	f.StringVar(&r.alias, "alias", "manual", "of a function's several names show that of: manual (the last in byte order), gprofng or perf")
	f.IntVar(&r.limit, "limit", 0, "print this many rows of each experiment and metric (0: all)")
	f.StringVar(&r.sort, "sort", "", "sort by this column of the view, numbers descending; -COLUMN reverses")
	f.BoolVar(&r.inline, "inline", false, "show inlined functions as functions of their own")
	f.BoolVar(&r.wide, "wide", false, "print long names in full also where other columns follow")
	f.StringVar(&r.format, "format", "table", "table, csv, json, ndjson or markdown")
	f.DurationVar(&r.width, "width", time.Second, "timeline: the width of an interval, e.g. 100ms")
	a.completeReport(c)
	return c
}

// check looks at what can be judged without a store.
func (r *reporter) check(name string) error {
	var err error
	if r.report, err = reportOf(name); err != nil {
		return err
	}
	if r.inline {
		r.report = r.inlined()
	}
	switch {
	case !slices.Contains(reportFormats, r.format):
		return usageErrorf("report: --format: no format %q (one of %s)", r.format, strings.Join(reportFormats, ", "))
	case !slices.Contains(modes, r.mode):
		return usageErrorf("report: --mode: no mode %q (one of %s)", r.mode, strings.Join(modes, ", "))
	case aliases[r.alias] == "":
		return usageErrorf("report: --alias: no choice %q (one of manual, gprofng, perf)", r.alias)
	case r.limit < 0:
		return usageErrorf("report: --limit: %d is less than 0", r.limit)
	case r.width <= 0:
		return usageErrorf("report: --width: %v is not longer than 0", r.width)
	case r.file != "" && r.name != "source":
		return usageErrorf("report: --file is for source only")
	case r.object != "" && !slices.Contains(r.columnsOfView(), "descriptor"):
		return usageErrorf("report: --object: the rows of %s are not data objects", r.name)
	case r.width != time.Second && r.name != "timeline":
		return usageErrorf("report: --width is for the timeline only")
	}
	columns := r.columnsOfView()
	if r.function != "" && r.rows == nil && (!slices.Contains(columns, "function_id") || r.name == "call-tree") {
		return usageErrorf("report: --function: the rows of %s are not functions", r.name)
	}
	if column := strings.TrimPrefix(r.sort, "-"); r.sort != "" && !slices.Contains(columns, column) {
		return usageErrorf("report: --sort: %s has no column %q (one of %s)", r.view, column, strings.Join(columns, ", "))
	}
	if r.sort != "" && r.print != nil && r.format == "table" {
		return usageErrorf("report: --sort: %s has an order of its own as a table (use another --format)", r.name)
	}
	return nil
}

// everything widens what was not asked for to all metrics and modes.
func (r *reporter) everything(cmd *cobra.Command) {
	if r.metric == "" {
		r.metric = "all"
	}
	if !cmd.Flags().Changed("mode") {
		r.mode = ""
	}
}

func (r *reporter) declared() queries.View {
	views, _ := queries.Views()
	i := slices.IndexFunc(views, func(v queries.View) bool { return v.Name == r.view })
	return views[i]
}

func (r *reporter) columnsOfView() []string {
	var names []string
	for _, c := range r.declared().Columns {
		names = append(names, c.Name)
	}
	return names
}

func (a *app) listReports(format string) error {
	views, err := queries.Views()
	if err != nil {
		return err
	}
	fields := []field{{name: "report"}, {name: "view"}, {name: "a row is"}}
	p := a.newPrinter(format)
	if err := p.header(fields); err != nil {
		return err
	}
	for _, r := range reports {
		i := slices.IndexFunc(views, func(v queries.View) bool { return v.Name == r.view })
		if err := p.row([]any{r.name, r.view, views[i].Row}); err != nil {
			return err
		}
	}
	return p.close()
}

// defaultMetrics returns the metrics to show, one of each experiment: the
// first in the order of the declaration, of counters by name. Reports of data
// objects show those that have any.
func (r *reporter) defaultMetrics(ctx context.Context) (map[string]string, error) {
	rank := map[string]int{}
	for i, m := range schema.Declared {
		rank[m.Name] = i - len(schema.Declared)
	}
	rows, err := r.db.QueryContext(ctx, fmt.Sprintf("SELECT experiment_id, metric FROM metrics WHERE data_objects OR NOT %t ORDER BY metric", r.ofData))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	first := map[string]string{}
	for rows.Next() {
		var id, name string
		if err := rows.Scan(&id, &name); err != nil {
			return nil, err
		}
		if old, ok := first[id]; !ok || rank[name] < rank[old] {
			first[id] = name
		}
	}
	return first, rows.Err()
}
