package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/problem"
)

func newProblemsCommand(a *app) *cobra.Command {
	var format, severity string
	var names []string
	severities := []string{problem.Info.String(), problem.Warning.String(), problem.Error.String()}
	c := &cobra.Command{
		Use:   "problems",
		Short: "List what is wrong or missing in the recordings",
		Long: `Lists what is wrong or missing in the recordings, the worst first, and how many
things (packets, events, links) each problem touches.

error: records were lost or are unreadable; warning: names were not found, stacks
end early, or the collector warned; info: a remark.`,
		Example: `  stackmill problems --severity error
  stackmill problems --experiment test.1.er --format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !slices.Contains(reportFormats, format):
				return usageErrorf("problems: --format: no format %q (one of %s)", format, strings.Join(reportFormats, ", "))
			case severity != "" && !slices.Contains(severities, severity):
				return usageErrorf("problems: --severity: no severity %q (one of %s)", severity, strings.Join(severities, ", "))
			}
			if err := a.printProblems(cmd.Context(), names, severity, format); err != nil {
				return fmt.Errorf("problems: %w", err)
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringArrayVar(&names, "experiment", nil, "only this experiment, may be repeated (name, id, or name without directories)")
	f.StringVar(&severity, "severity", "", "only this severity: "+strings.Join(severities, ", "))
	f.StringVar(&format, "format", "table", strings.Join(reportFormats, ", "))
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(reportFormats, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("severity", cobra.FixedCompletions(severities, cobra.ShellCompDirectiveNoFileComp))
	a.completeFromStore(c, "experiment", "SELECT experiment FROM experiment_names ORDER BY ALL")
	return c
}

func (a *app) printProblems(ctx context.Context, names []string, severity, format string) error {
	db, err := a.open(ctx, names...)
	if err != nil {
		return err
	}
	defer db.Close()
	columns := "p.experiment_id, n.experiment, p.problem, p.severity, p.process, p.file, p.offset, p.reason, p.message, p.count"
	if format == "table" || format == "markdown" {
		columns = `n.experiment AS "Experiment", p.severity AS "Severity", p.count AS "Count", p.file AS "File", COALESCE(p.offset::VARCHAR, '') AS "Offset", p.message AS "Message"`
	}
	rows, err := db.QueryContext(ctx, "SELECT "+columns+` FROM problems p LEFT JOIN experiment_names n USING (experiment_id)
WHERE p.severity = $1 OR $1 = ''
ORDER BY n.experiment, array_position(['error', 'warning', 'info'], p.severity), p.problem`, severity)
	if err != nil {
		return err
	}
	return printRows(a.newPrinter(format), rows)
}
