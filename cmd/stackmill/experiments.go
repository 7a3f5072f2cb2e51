//go:build cgo

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/result"
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
			if !slices.Contains(result.Formats, format) {
				return exit.Usagef("experiments: --format: no format %q (one of %s)", format, strings.Join(result.Formats, ", "))
			}
			if wide && format != "table" && format != "markdown" {
				return exit.Usagef("experiments: --wide: %s always has the paths", format)
			}
			if err := a.printExperiments(cmd.Context(), format, selectors, wide); err != nil {
				return fmt.Errorf("experiments: %w", err)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&wide, "wide", false, "print paths, too")
	c.Flags().StringVar(&format, "format", "table", strings.Join(result.Formats, ", "))
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(result.Formats, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) printExperiments(ctx context.Context, format string, selectors []string, wide bool) error {
	db, err := a.open(ctx, selectors...)
	if err != nil {
		return err
	}
	defer db.Close()
	if format != "table" && format != "markdown" {
		rows, err := db.ListExperiments(ctx)
		if err != nil {
			return err
		}
		return result.Print(result.New(&a.Output, format), rows)
	}
	fields, cells, err := experimentCells(ctx, db, wide)
	if err != nil {
		return err
	}
	return a.Table(fields, cells, format == "markdown")
}

// experimentCells are the headings and the rows of the table.
func experimentCells(ctx context.Context, db *queries.DB, wide bool) (fields []terminal.Field, cells [][]string, err error) {
	columns := []string{"experiment", "started", "duration_ns", "processes", "samples", "status", "errors", "warnings", "target", "host", "ingested", "labels", "experiment_id"}
	fields = []terminal.Field{
		{Name: "Experiment"}, {Name: "Started"}, {Name: "Duration s", Numeric: true},
		{Name: "Processes", Numeric: true}, {Name: "Samples", Numeric: true}, {Name: "Status"},
		{Name: "Errors", Numeric: true}, {Name: "Warnings", Numeric: true}, {Name: "Program"}, {Name: "Host"},
		{Name: "Ingested"}, {Name: "Labels"}, {Name: "Id"},
	}
	if wide {
		columns, fields = append(columns, "path"), append(fields, terminal.Field{Name: "Path"})
	}
	rows, err := db.ListExperiments(ctx, columns...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, nil, err
		}
		row := make([]string, len(columns))
		for i, c := range columns {
			switch v := values[i].(type) {
			case map[string]any:
				row[i] = pairs(v)
			case int64:
				if row[i] = strconv.FormatInt(v, 10); c == "duration_ns" {
					row[i] = formatValue(v, "ns")
				}
			default:
				row[i] = result.Cell(v, "")
			}
		}
		cells = append(cells, row)
	}
	return fields, cells, rows.Err()
}

// pairs words labels as KEY=VALUE.
func pairs(labels map[string]any) string {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		words = append(words, fmt.Sprintf("%s=%v", key, labels[key]))
	}
	return strings.Join(words, " ")
}
