//go:build cgo

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/internal/atomicfile"
	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/export"
	"stackmill/queries/lake/formats"
)

// exporter runs `stackmill export`.
type exporter struct {
	*app
	export.Request
	filter    queries.Filter
	chosen    selection
	selectors []string
	output    string
	summaries summaries
	lake      lakeOptions
}

func newExportCommand(a *app) *cobra.Command {
	x := &exporter{app: a}
	c := &cobra.Command{
		Use:   "export [SELECTOR]...",
		Short: "Write stacks in the formats of other tools",
		Long: `Writes the stacks of experiments in the format of another tool. Several experiments are
summed; without a SELECTOR, all of the store. docs/export.md describes the formats. A
SELECTOR is ` + queries.SelectorHelp + `.

pprof and callgrind have all metrics unless you choose one. The others have one: without
--metric, the experiments' default.

html is one file to send: flame graph, functions and the source of the hottest, for any
browser, without network. svg is the flame graph as an image.

With --summaries, -o names a folder of Parquet files, one for each view and commit, which
is brought up to date with the store. With --watch, that continues until a signal.

With --as iceberg or ducklake, -o names a folder that makes the store's tables readable as
a data lake. It refers to the store's own files where these have the same rows as SQL, and
to copies otherwise. A folder may have both formats.`,
		Example: `  stackmill export --as pprof test.1.er -o test.pb.gz && go tool pprof -top test.pb.gz
  stackmill export --as speedscope --where "stack_has('^parse')" --between 10s,20s -o parse.json
  stackmill export --as folded --metric heapallocbytes -o - | flamegraph.pl > heap.svg
  stackmill export --as speedscope --by thread -o threads.json
  stackmill export --as html --experiment test.1.er -o test.html
  stackmill export --summaries --watch -o /data/feed
  stackmill export --as iceberg -o /data/lake`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, selectors []string) error {
			if x.selectors = x.chosen.with(selectors); len(selectors) > 0 && (x.summaries.asked(cmd) || slices.Contains(formats.Names, x.As)) {
				return exit.Usagef("export: SELECTOR %s: summaries and data lakes have all experiments of the store", selectors[0])
			}
			if x.summaries.asked(cmd) && !slices.Contains(formats.Names, x.As) {
				return x.exportSummaries(cmd)
			}
			if slices.Contains(formats.Names, x.As) {
				return x.exportLake(cmd)
			}
			if x.lake.asked(cmd) {
				return exit.Usagef("export: --location, --store-location and --keep need --as %s", strings.Join(formats.Names, " or "))
			}
			if err := x.Check(formats.Names...); err != nil {
				return exit.Usagef("export: %w", err)
			}
			if x.output == "" {
				return exit.Usagef("export: no file given (name one with -o; -o - is the standard output)")
			}
			return x.run(cmd.Context())
		},
	}
	f := c.Flags()
	all := slices.Concat(export.Formats(), formats.Names)
	f.StringVar(&x.As, "as", "", strings.Join(all, ", "))
	a.addSelection(c, &x.chosen)
	f.StringVar(&x.Metric, "metric", "", "only this metric")
	f.StringVar(&x.Mode, "mode", "user", "user, expert or machine")
	f.BoolVar(&x.Inline, "inline", false, "folded, speedscope, html and svg: show inlined functions as frames of their own, as pprof and firefox always do")
	f.StringVar(&x.By, "by", "", "separate stacks by thread or thread-name: as profiles in speedscope, as root frames in folded, callgrind, html and svg (pprof always has labels, firefox threads)")
	addFilter(c, &x.filter)
	outputVar(f, &x.output, "output", "o", "", "the file to write, - for the standard output")
	x.summaries.addTo(f)
	x.lake.addTo(f)
	oneOf(c, "as", "format", all)
	oneOf(c, "mode", "mode", export.Modes)
	oneOf(c, "by", "kind of origin", export.Origins)
	a.completeFromStore(c, "metric", "SELECT DISTINCT metric FROM metrics ORDER BY ALL")
	return c
}

// run opens the store and writes the file.
func (x *exporter) run(ctx context.Context) error {
	if x.output == "-" && terminal.Is(x.Stdout) && x.As == "pprof" {
		return exit.Usagef("export: the standard output is a terminal (name a file with -o)")
	}
	if x.output != "-" {
		if err := atomicfile.Check(x.output); err != nil {
			return fmt.Errorf("export: --output: %w", err)
		}
	}
	store, err := x.open(ctx, x.selectors...)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer store.Close()
	if store.Count == 0 {
		return fmt.Errorf("export: %w", x.emptyStore())
	}
	x.filter.Mode, x.filter.Inline = x.Mode, x.Inline
	db, closing, err := x.filterStore(ctx, store, x.filter, x.Reads()...)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer closing()
	if x.Filter, err = x.filter.Conditions(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if x.Metric == "" {
		remark, err := db.MetricRemark(ctx)
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		if remark != "" {
			x.Warnf("%s", remark)
		}
	}
	return named("export", x.write(func(w io.Writer) error { return export.Write(ctx, db, x.Request, w) }))
}

// write writes the content to the output file, or to standard output.
func (x *exporter) write(content func(io.Writer) error) error {
	if x.output == "-" {
		return content(x.Stdout)
	}
	return atomicfile.Write(x.output, content)
}
