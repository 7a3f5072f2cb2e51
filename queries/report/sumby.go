package report

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
)

// mostColumns is the largest number of values of a label that get a column of their own.
const mostColumns = 12

// labelColumns holds the columns into which a sum is divided, by the values of a label or of a column
// of experiments. A nil labelColumns has no columns.
type labelColumns struct {
	key    string
	values []string       // the values with columns, in order
	of     map[string]int // number of experiments by value
	rest   []string       // values without a column
	none   int            // number of experiments without the label
	value  string         // SQL over `experiments e` and `labels l`
}

// ByColumn is a column of a sum for one value of a label.
type ByColumn struct {
	Name        string // the part of the column's name after the column that it divides and a blank
	Experiments int    // number of experiments with this value
}

// The names of the columns for experiments whose value has no column of its own.
const (
	otherValues = "other values"
	withoutKey  = "without"
)

// chooseBreakdown finds the values of the label Request.By.
func (q *Question) chooseBreakdown(ctx context.Context) error {
	key := strings.TrimPrefix(q.By, "label=")
	b := &labelColumns{key: key, of: map[string]int{}, value: "l.value"}
	if queries.IsColumn(key) {
		b.value = fmt.Sprintf(`COALESCE(l.value, e."%s"::VARCHAR)`, key)
	}
	found, err := q.db.Records(ctx, "SELECT value, count(*) AS n FROM (SELECT "+b.value+" AS value FROM experiments e LEFT JOIN labels l ON l.experiment_id = e.experiment_id AND l.label = "+queries.Quote(key)+") GROUP BY ALL ORDER BY value")
	if err != nil {
		return err
	}
	for _, rec := range found {
		if rec["value"] == nil {
			b.none = int(rec.Number("n"))
			continue
		}
		value := rec.Text("value")
		b.values, b.of[value] = append(b.values, value), int(rec.Number("n"))
	}
	if b.values == nil {
		known, err := q.db.Texts(ctx, "SELECT DISTINCT label FROM labels ORDER BY label")
		if err != nil {
			return err
		}
		return fmt.Errorf("--by: no experiment has a label %q%s (stackmill experiments lists them)", key, queries.Suggest(key, known))
	}
	if len(b.values) > mostColumns {
		at := len(b.values) - mostColumns
		b.rest, b.values = b.values[:at], b.values[at:]
		q.remark("--by: the last %d of %d values of %s have columns; the other %d are added up in %q", mostColumns, len(b.values)+len(b.rest), key, len(b.rest), otherValues)
	}
	q.by = b
	return nil
}

// Columns returns the columns of a sum that divide a column of values.
func (b *labelColumns) Columns() (columns []ByColumn) {
	if b == nil {
		return nil
	}
	for _, v := range b.values {
		columns = append(columns, ByColumn{b.key + "=" + v, b.of[v]})
	}
	if n := b.experimentsOf(b.rest); n > 0 {
		columns = append(columns, ByColumn{otherValues, n})
	}
	if b.none > 0 {
		columns = append(columns, ByColumn{withoutKey + " " + b.key, b.none})
	}
	return columns
}

func (b *labelColumns) experimentsOf(values []string) (n int) {
	for _, v := range values {
		n += b.of[v]
	}
	return n
}

// cte returns a CTE with the value of each experiment.
func (b *labelColumns) cte() string {
	return "divided AS MATERIALIZED (SELECT e.experiment_id, " + b.value + " AS value FROM experiments e LEFT JOIN labels l ON l.experiment_id = e.experiment_id AND l.label = " + queries.Quote(b.key) + ")"
}

// join returns the SQL that joins this CTE to the rows of each experiment.
func (b *labelColumns) join() string {
	if b == nil {
		return ""
	}
	return " LEFT JOIN divided d ON d.experiment_id = e.experiment_id"
}

// DividedColumn returns the name of the column with a column's values for the experiments that have
// one value of a label.
func DividedColumn(column string, by ByColumn) string { return column + " " + by.Name }

// divided returns SQL for the columns that divide a column of values. name is the prefix of their names.
func (q *Question) divided(column, name string) (columns []string) {
	for _, by := range q.by.Columns() {
		condition := "d.value IS NULL"
		switch value, ok := strings.CutPrefix(by.Name, q.by.key+"="); {
		case ok && slices.Contains(q.by.values, value):
			condition = "d.value = " + queries.Quote(value)
		case by.Name == otherValues:
			condition = "d.value IN (" + queries.Quote(q.by.rest...) + ")"
		}
		whole := "::BIGINT"
		if column == "amount" {
			whole = ""
		}
		columns = append(columns, fmt.Sprintf(`COALESCE(sum(e."%s") FILTER (%s), 0)%s AS %s`, column, condition, whole, identifier(DividedColumn(name, by))))
	}
	return columns
}

// dividedNames returns the names of the columns that divide the values.
func (s *sum) dividedNames() (names []string) {
	for _, c := range s.values {
		for _, by := range s.by.Columns() {
			names = append(names, DividedColumn(c, by))
		}
	}
	return names
}

// identifier quotes the name of a column for SQL.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
