package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newExperimentsCommand(a *app) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "experiments",
		Short: "List the experiments in the store",
		Long: `Lists the experiments in the store. csv, json and ndjson give every column of the
table "experiments", the numbers of errors and warnings, where the recording was
found and when it was ingested.`,
		Example: `  stackmill experiments
  stackmill experiments --format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(reportFormats, format) {
				return usageErrorf("experiments: --format: no format %q (one of %s)", format, strings.Join(reportFormats, ", "))
			}
			if err := a.printExperiments(cmd.Context(), format); err != nil {
				return fmt.Errorf("experiments: %w", err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "table", strings.Join(reportFormats, ", "))
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(reportFormats, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) printExperiments(ctx context.Context, format string) error {
	db, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	commits := []string{"(NULL, NULL, NULL)"}
	for _, c := range db.Commits {
		commits = append(commits, "("+list([]string{c.ExperimentID, c.Path, c.Ingested.UTC().Format(time.RFC3339)})+")")
	}
	rows, err := db.QueryContext(ctx, `WITH commits(experiment_id, path, ingested) AS (VALUES `+strings.Join(commits, ", ")+`)
SELECT e.*,
  (SELECT count(*) FROM problems p WHERE p.experiment_id = e.experiment_id AND p.severity = 'error') AS errors,
  (SELECT count(*) FROM problems p WHERE p.experiment_id = e.experiment_id AND p.severity = 'warning') AS warnings,
  c.path, c.ingested
FROM experiments e LEFT JOIN commits c USING (experiment_id) ORDER BY experiment`)
	if err != nil {
		return err
	}
	if format != "table" && format != "markdown" {
		return printRows(a.newPrinter(format), rows)
	}
	defer rows.Close()
	found, err := records(rows)
	if err != nil {
		return err
	}
	cells := make([][]string, len(found))
	for i, e := range found {
		cells[i] = []string{
			e.text("experiment"), cell(e["started"], ""), formatValue(e.number("duration_ns"), "ns"),
			strconv.FormatInt(e.number("processes"), 10), strconv.FormatInt(e.number("samples"), 10), e.text("status"),
			strconv.FormatInt(e.number("errors"), 10), strconv.FormatInt(e.number("warnings"), 10),
			e.text("target"), e.text("host"), e.text("experiment_id"),
		}
	}
	return a.printTable([]field{
		{name: "Experiment"}, {name: "Started"}, {name: "Duration s", numeric: true},
		{name: "Processes", numeric: true}, {name: "Samples", numeric: true}, {name: "Status"},
		{name: "Errors", numeric: true}, {name: "Warnings", numeric: true}, {name: "Program"}, {name: "Host"}, {name: "Id"},
	}, cells, format == "markdown")
}
