//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackmill/internal/exit"
	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/queries/result"
	"stackmill/queries/text"
	"stackmill/stages/symbolize/source"
)

// reporter runs `stackmill report`.
type reporter struct {
	*app
	report.Request
	chosen      selection
	selectors   []string
	sources     []source.Rule
	sourcePaths []string
	noRecorded  bool
	wide        bool
	sum, each   bool
	format      string
}

// documentFormats are the formats of verbs that can also write self-contained documents.
var documentFormats = append(slices.Clone(result.Formats), "html")

func newReportCommand(a *app) *cobra.Command {
	r := &reporter{app: a}
	c := &cobra.Command{
		Use:   "report [VIEW [SELECTOR]...]",
		Short: "Print a standard report",
		Long: `Prints a standard report; without a name, lists them. Tables show times in seconds and
percentages of <Total>; csv, json and ndjson give the view's rows in base units (ns,
bytes, count). A SELECTOR is
` + queries.SelectorHelp + `.

Several experiments are added up, with the lowest, median and highest value of one, and the
imbalance (highest divided by mean, minus 1); an experiment that lacks a row counts as 0.
--each prints one after the other, --by makes a column for each value of a label. Without a
SELECTOR, formats other than tables have the rows of each experiment.

Without --metric, the default metric of each experiment is shown: the first that it has of
CPU time, synchronization, heap, I/O. "all" shows every metric. "overview",
"function-summary" and "conservation" show all metrics unless you name one, and
"conservation" all modes.`,
		Example: `  stackmill report functions --limit 20
  stackmill report functions --metric totalcpu,heapallocbytes
  stackmill report functions night=2026-11-21 --sort exclusive_imbalance
  stackmill report functions 'rank*.er' --by host
  stackmill report functions --thread 4711 --between 10s,20s
  stackmill report call-tree --where "cpu = 3 AND stack_has('^parse')"
  stackmill report functions --hide libc.so --api-only libstdc++.so
  stackmill report callers-callees test.1.er --function main
  stackmill report callers-callees --function main,parse,read_line
  stackmill report call-tree --mode machine --metric heapallocbytes
  stackmill report lines --format csv > lines.csv
  stackmill report functions --format html > functions.html
  stackmill report source --function main --source-path /build=$HOME/src
  stackmill report disasm --function main
  stackmill report data-layout --object rec_t`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				if name := otherThan(cmd, "color", "no-pager", "format", "json", "store", "cache-size"); name != "" {
					return exit.Usagef("report: --%s: no VIEW given (stackmill report lists them)", name)
				}
				if r.format == "html" {
					return exit.Usagef("report: --format html: no VIEW given (stackmill report lists them)")
				}
				return a.listReports(r.format)
			}
			r.selectors = r.chosen.with(args[1:])
			if err := r.prepare(cmd, args[0]); err != nil {
				return err
			}
			return r.answer(cmd.Context())
		},
	}
	r.addFlags(c)
	a.completeReport(c)
	return c
}

// otherThan returns the name of a given flag that is not in names, or "".
func otherThan(cmd *cobra.Command, names ...string) (other string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) {
			other = f.Name
		}
	})
	return other
}

func (r *reporter) addFlags(c *cobra.Command) {
	f := c.Flags()
	r.addSelection(c, &r.chosen)
	f.StringVar(&r.Metric, "metric", "", `the metric, or "all" (default: the experiment's default metric); tables show several, separated by commas, side by side`)
	f.StringVar(&r.Mode, "mode", "user", "user, expert or machine")
	f.StringVar(&r.Function, "function", "", "only functions of this name, by any --alias; failing that, functions whose name contains it or matches it as a regular expression; callers-callees: several, separated by commas, are a sequence of calls")
	f.StringVar(&r.File, "file", "", "source: only this file, named by the end of its path")
	f.StringVar(&r.Object, "object", "", "reports of data objects: only objects of this descriptor; failing that, those whose descriptor contains it or matches it as a regular expression")
	f.StringArrayVar(&r.sourcePaths, "source-path", nil, "source and disasm, for text that is not in the store: "+sourcePathHelp)
	f.BoolVar(&r.noRecorded, "no-recorded-sources", false, "source and disasm: "+noRecordedHelp)
	f.StringVar(&r.Alias, "alias", "manual", "which of a function's several names to show: the choice of the manual (the last in byte order), gprofng or perf")
	limitVar(c, &r.Limit, 0, "print at most this many rows for each experiment and metric; 0: all (default: 40 in tables, except of source and disasm; all in other formats)")
	f.StringVar(&r.Sort, "sort", "", "sort by this column of the view, numbers descending; -COLUMN reverses")
	f.BoolVar(&r.sum, "sum", false, "add up the experiments (default if several are selected, and in tables)")
	f.BoolVar(&r.each, "each", false, "print one experiment after the other")
	f.StringVar(&r.By, "by", "", "add up the experiments, with a column for each value of this label or column of experiments")
	f.BoolVar(&r.Inline, "inline", false, "show inlined functions as functions of their own")
	f.BoolVar(&r.wide, "wide", false, "never shorten long names")
	formatVar(c, &r.format, "table, csv, json, ndjson, markdown, or html (one file to send)", documentFormats...)
	f.DurationVar(&r.Width, "width", time.Second, "timeline, cpu-timeline, seconds: the width of an interval, e.g. 100ms")
	positive(f, "width", &r.Width)
	addFilter(c, &r.Filter)
}

// prepare finds the report and checks the flags.
func (r *reporter) prepare(cmd *cobra.Command, name string) (err error) {
	r.Sum = r.sum
	if err := r.About(name, cmd.Flags().Changed("mode")); err != nil {
		for _, s := range r.selectors {
			if other, unknown := report.Find(s); unknown == nil && r.Name == "" {
				return exit.Usagef("report: %q is no view: the VIEW comes first (stackmill report %s SELECTOR...)", name, other.Name)
			}
		}
		return exit.Usagef("report: %w", err)
	}
	if err := r.checkSum(); err != nil {
		return exit.Usagef("report: %w", err)
	}
	if !cmd.Flags().Changed("limit") && text.IsLimited(&r.Report, r.format) {
		r.Limit = text.DefaultLimit
		if r.format == "html" {
			r.Limit = text.DocumentLimit
		}
	}
	if r.Sort != "" && r.draws() {
		return exit.Usagef("report: --sort: the table of %s has a fixed order (use another --format)", r.Name)
	}
	if err := r.checkApplies(); err != nil {
		return exit.Usagef("report: %w", err)
	}
	if r.sources, err = source.ParseRules(r.sourcePaths); err != nil {
		return exit.Usagef("report: --source-path: %w", err)
	}
	return nil
}

// checkSum returns an error if the flags of sums contradict each other.
func (r *reporter) checkSum() error {
	asked := "--sum"
	if r.By != "" {
		asked = "--by"
	}
	switch {
	case r.each && (r.sum || r.By != ""):
		return fmt.Errorf("%s and --each contradict each other", asked)
	case r.each && !r.CanAdd():
		return fmt.Errorf("--each has no effect on %s: it is never added up", r.Name)
	}
	return nil
}

// sums decides whether the experiments are added up. By default, several selected experiments are, and
// in tables also all experiments of a store. In other formats, a whole store has the rows of the view.
func (r *reporter) sums(experiments int) bool {
	isTable := r.format == "table" || r.format == "markdown" || r.format == "html"
	return r.sum || r.By != "" || !r.each && r.CanAdd() && experiments > 1 && (isTable || len(r.selectors) > 0)
}

// checkApplies returns an error if a flag has no effect on this report in this format.
func (r *reporter) checkApplies() error {
	looksForText := len(r.sourcePaths) > 0 || r.noRecorded
	switch {
	case looksForText && !(r.ShowsSources() && r.draws()):
		return fmt.Errorf("--source-path and --no-recorded-sources have no effect on this report (they apply to source and disasm, printed as tables)")
	case r.wide && (r.Drawn || r.format != "table" && r.format != "markdown" && r.format != "html"):
		return fmt.Errorf("--wide: %s in format %s never shortens names", r.Name, r.format)
	case r.Inline && r.ShowsSources() && !r.draws() && r.Filter.IsEmpty():
		return fmt.Errorf("--inline: only the table of %s shows inlined code (source-inlined has it in rows)", r.Name)
	}
	return nil
}

// draws reports whether the report is drawn as text of its own, such as code or a graph, not as a
// plain table.
func (r *reporter) draws() bool { return text.Draws(&r.Report, r.format) }

// readSource reads the text of a source file that the store does not have.
func (r *reporter) readSource(file string) (path string, lines []string, err error) {
	found, err := (&source.Finder{Rules: r.sources, NoRecorded: r.noRecorded}).Read(file)
	switch {
	case errors.Is(err, source.ErrNotFound):
		return "", nil, errors.New("neither in the recording nor at its recorded path (use --source-path FROM=TO)")
	case err != nil:
		return "", nil, err
	}
	return found.Path, found.Lines, nil
}

// answer opens the store and prints the report.
func (r *reporter) answer(ctx context.Context) (err error) {
	store, err := r.open(ctx, r.selectors...)
	if err != nil {
		return fmt.Errorf("report %s: %w", r.Name, err)
	}
	defer store.Close()
	r.Sum = r.sums(store.Count)
	r.Filter.Mode, r.Filter.Inline = r.Mode, r.Inline
	db, closing, err := r.filterStore(ctx, store, r.Filter, r.Reads()...)
	if err != nil {
		return fmt.Errorf("report %s: %w", r.Name, err)
	}
	defer closing()
	if db.Count == 0 {
		return fmt.Errorf("report %s: %w", r.Name, r.emptyStore())
	}
	t := text.Report{Output: &r.Output, Request: r.Request, DB: db, Format: r.format, Wide: r.wide, ReadSource: r.readSource}
	return named("report "+r.Name, t.Print(ctx))
}

func (a *app) listReports(format string) error {
	views, err := queries.Views()
	if err != nil {
		return err
	}
	fields := []result.Field{{Name: "report"}, {Name: "view"}, {Name: "a row is"}}
	p := result.New(&a.Output, format)
	if err := p.Header(fields); err != nil {
		return err
	}
	for _, r := range report.Reports {
		i := slices.IndexFunc(views, func(v queries.View) bool { return v.Name == r.View })
		if err := p.Row([]any{r.Name, r.View, views[i].Row}); err != nil {
			return err
		}
	}
	return p.Close()
}
