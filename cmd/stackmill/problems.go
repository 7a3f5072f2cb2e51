//go:build cgo

package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/queries/result"
	"stackmill/schema/diagnostic"
)

func newProblemsCommand(a *app) *cobra.Command {
	var format, severity string
	var names []string
	var all bool
	severities := []string{diagnostic.Info.String(), diagnostic.Warning.String(), diagnostic.Error.String()}
	c := &cobra.Command{
		Use:   "problems",
		Short: "List what is wrong with the recordings or missing in them",
		Long: `Lists what is wrong with the recordings or missing in them, by reason, the worst first:
how many experiments have it, how many items (packets, events, links) it affects, and
the first one. With --all, each problem is listed.

error: records were lost or are unreadable; warning: names were not found, stacks end
early, or the collector warned; info: a remark.`,
		Example: `  stackmill problems --severity error
  stackmill problems --experiment test.1.er --all --format json`,
		Args: optionsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return named("problems", a.printProblems(cmd.Context(), problemQuery(all, format), names, severity, format))
		},
	}
	f := c.Flags()
	f.StringArrayVar(&names, "experiment", nil, experimentHelp)
	f.BoolVar(&all, "all", false, "list every problem, not one line for each reason")
	f.StringVar(&severity, "severity", "", "only this severity: "+strings.Join(severities, ", "))
	oneOf(c, "severity", "severity", severities)
	formatVar(c, &format, strings.Join(result.Formats, ", "), result.Formats...)
	a.completeFromStore(c, "experiment", "SELECT experiment FROM experiment_names ORDER BY ALL")
	return c
}

// problemQuery returns SQL that lists problems: one by one if all is set, otherwise one row for
// each reason. Its columns depend on whether people or programs read the format. The parameter $1
// is a severity; "" selects all.
func problemQuery(all bool, format string) string {
	people := format == "table" || format == "markdown"
	columns := "p.experiment_id, n.experiment, p.problem, p.severity, p.process, p.file, p.offset, p.reason, p.message, p.count"
	rest := "ORDER BY n.experiment, array_position(['error', 'warning', 'info'], p.severity), p.problem"
	if all && people {
		columns = `n.experiment AS "Experiment", p.severity AS "Severity", p.count AS "Count", p.file AS "File", COALESCE(p.offset::VARCHAR, '') AS "Offset", p.message AS "Message"`
	}
	if !all {
		columns = `p.severity, p.reason, count(DISTINCT p.experiment_id) AS experiments, count(*) AS problems, sum(p.count)::BIGINT AS count,
  arg_min({experiment: n.experiment, file: p.file, message: p.message}, (n.experiment, p.problem)) AS first`
		rest = "GROUP BY p.severity, p.reason ORDER BY array_position(['error', 'warning', 'info'], p.severity), experiments DESC, p.reason"
	}
	query := "SELECT " + columns + " FROM problems p LEFT JOIN experiment_names n USING (experiment_id) WHERE p.severity = $1 OR $1 = '' " + rest
	switch {
	case all:
		return query
	case people:
		return `SELECT severity AS "Severity", experiments AS "Experiments", count AS "Count", reason AS "Reason", concat(first.experiment, ': ', first.file, ': ', first.message) AS "First" FROM (` + query + ")"
	}
	return "SELECT severity, reason, experiments, problems, count, first.experiment AS experiment, first.file AS file, first.message AS message FROM (" + query + ")"
}

func (a *app) printProblems(ctx context.Context, query string, names []string, severity, format string) error {
	db, err := a.open(ctx, names...)
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, query, severity)
	if err != nil {
		return err
	}
	return result.Print(result.New(&a.Output, format), rows)
}
