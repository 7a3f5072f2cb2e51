package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"stackmill/queries"
)

func newExperimentsCommand(a *app) *cobra.Command {
	var format string
	var wide bool
	c := &cobra.Command{
		Use:   "experiments [SELECTOR]...",
		Short: "List the experiments in the store",
		Long: `Lists the experiments in the store, or those that a SELECTOR stands for:
` + queries.SelectorHelp + `.

csv, json and ndjson give every column of the view "experiments" and the numbers
of errors and warnings.`,
		Example: `  stackmill experiments
  stackmill experiments 'night-*/*.er' host=web7
  stackmill experiments --format json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, selectors []string) error {
			if !slices.Contains(reportFormats, format) {
				return usageErrorf("experiments: --format: no format %q (one of %s)", format, strings.Join(reportFormats, ", "))
			}
			if err := a.printExperiments(cmd.Context(), format, selectors, wide); err != nil {
				return fmt.Errorf("experiments: %w", err)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&wide, "wide", false, "print paths, too")
	c.Flags().StringVar(&format, "format", "table", strings.Join(reportFormats, ", "))
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(reportFormats, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) printExperiments(ctx context.Context, format string, selectors []string, wide bool) error {
	db, err := a.open(ctx, selectors...)
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.ListExperiments(ctx)
	if err != nil {
		return err
	}
	if format != "table" && format != "markdown" {
		return printRows(a.newPrinter(format), rows)
	}
	found, err := queries.ScanRecords(rows)
	if err != nil {
		return err
	}
	fields := []field{
		{name: "Experiment"}, {name: "Started"}, {name: "Duration s", numeric: true},
		{name: "Processes", numeric: true}, {name: "Samples", numeric: true}, {name: "Status"},
		{name: "Errors", numeric: true}, {name: "Warnings", numeric: true}, {name: "Program"}, {name: "Host"},
		{name: "Ingested"}, {name: "Labels"}, {name: "Id"},
	}
	if wide {
		fields = append(fields, field{name: "Path"})
	}
	cells := make([][]string, len(found))
	for i, e := range found {
		cells[i] = []string{
			e.Text("experiment"), cell(e["started"], ""), formatValue(e.Number("duration_ns"), "ns"),
			strconv.FormatInt(e.Number("processes"), 10), strconv.FormatInt(e.Number("samples"), 10), e.Text("status"),
			strconv.FormatInt(e.Number("errors"), 10), strconv.FormatInt(e.Number("warnings"), 10), e.Text("target"), e.Text("host"),
			cell(e["ingested"], ""), pairs(e["labels"]), e.Text("experiment_id"), e.Text("path"),
		}[:len(fields)]
	}
	return a.printTable(fields, cells, format == "markdown")
}

// pairs words labels as KEY=VALUE.
func pairs(labels any) string {
	m, _ := labels.(map[string]any)
	var words []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		words = append(words, fmt.Sprintf("%s=%v", key, m[key]))
	}
	return strings.Join(words, " ")
}
