//go:build cgo

package text

import (
	"database/sql"

	"stackmill/internal/terminal"
	"stackmill/queries/result"
)

// Problems prints rows about problems, at most limit (0: all). The last column is a message: it is
// printed in full below the row, wrapped to the width of a terminal.
func Problems(out *terminal.Output, rows *sql.Rows, limit int) error {
	p := &problemPrinter{}
	if err := result.Print(p, rows); err != nil {
		return err
	}
	more := 0
	if limit > 0 && len(p.rows) > limit {
		p.rows, more = p.rows[:limit], len(p.rows)-limit
	}
	if len(p.rows) == 0 {
		return out.Printf("no problems\n")
	}
	last := len(p.fields) - 1
	heads, messages := make([][]string, len(p.rows)), make([]string, len(p.rows))
	for i, row := range p.rows {
		heads[i], messages[i] = row[:last], row[last]
	}
	if err := out.NotedTable(p.fields[:last], heads, messages); err != nil {
		return err
	}
	return result.More(out, "table", more)
}

// problemPrinter keeps rows.
type problemPrinter struct {
	fields []terminal.Field
	rows   [][]string
}

func (p *problemPrinter) Header(fields []result.Field) error {
	for _, f := range fields {
		p.fields = append(p.fields, terminal.Field{Name: f.Name, Numeric: f.Numeric})
	}
	return nil
}

func (p *problemPrinter) Row(values []any) error {
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = result.Cell(v, "")
	}
	p.rows = append(p.rows, row)
	return nil
}

func (p *problemPrinter) Close() error { return nil }

// problemPlace is SQL for the place of a problem in its recording, to put before a message. Problems
// of the whole recording have the file ".".
const problemPlace = `concat(CASE WHEN p.file <> '.' THEN p.file END, ' at offset ' || p.offset, CASE WHEN p.file <> '.' THEN ': ' END)`

// ProblemQuery returns SQL that lists problems: one by one if all is set, otherwise one row for
// each reason. Its columns depend on whether people or programs read the result. The parameter $1
// is a severity; "" selects all.
func ProblemQuery(all, people bool) string {
	columns := "p.experiment_id, n.experiment, p.problem, p.severity, p.process, p.file, p.offset, p.reason, p.message, p.count"
	rest := "ORDER BY n.experiment, array_position(['error', 'warning', 'info'], p.severity), p.problem"
	if all && people {
		columns = `p.severity AS "Severity", p.count AS "Count", p.reason AS "Reason", n.experiment AS "Experiment",
  concat(` + problemPlace + `, p.message) AS "Message"`
	}
	if !all {
		columns = `p.severity, p.reason, count(DISTINCT p.experiment_id) AS experiments, count(*) AS problems, sum(p.count)::BIGINT AS count,
  arg_min({experiment: n.experiment, file: p.file, place: ` + problemPlace + `, message: p.message}, (-p.count, n.experiment, p.problem)) AS first`
		rest = "GROUP BY p.severity, p.reason ORDER BY array_position(['error', 'warning', 'info'], p.severity), experiments DESC, p.reason"
	}
	query := "SELECT " + columns + " FROM problems p LEFT JOIN experiment_names n USING (experiment_id) WHERE p.severity = $1 OR $1 = '' " + rest
	switch {
	case all:
		return query
	case people:
		return `SELECT severity AS "Severity", experiments AS "Experiments", count AS "Count", reason AS "Reason", concat(first.experiment, ': ', first.place, first.message) AS "First" FROM (` + query + ")"
	}
	return "SELECT severity, reason, experiments, problems, count, first.experiment AS experiment, first.file AS file, first.message AS message FROM (" + query + ")"
}
