package report

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
)

// sumSQL returns SQL for the rows of the sum over the chosen experiments.
func (q *Question) sumSQL(table bool, limit int) string {
	if q.addition().apart {
		return q.apartSQL(table, limit)
	}
	s := &sum{Question: q, table: table}
	s.prepare()
	group, first := "true", ""
	if q.Measured() {
		group, first = "metric", q.metricOrder()
	}
	extra := ""
	if table {
		extra = q.leftOutColumns(group)
	}
	text := fmt.Sprintf("WITH %s\nSELECT %s%s FROM (%s) v", strings.Join(s.with(), ",\n"), q.chosen(), extra, s.rows())
	order := q.sortOrder() + q.order
	if limit > 0 {
		text += fmt.Sprintf("\nQUALIFY row_number() OVER (PARTITION BY %s ORDER BY %s) <= %d", group, order, limit)
	}
	return text + "\nORDER BY " + first + order
}

// metricOrder is the SQL order of metrics.
func (q *Question) metricOrder() string {
	return "array_position([" + queries.Quote(q.Metrics()...) + "]::VARCHAR[], metric), "
}

// apartSQL returns SQL that lists the rows of all chosen experiments together.
func (q *Question) apartSQL(table bool, limit int) string {
	columns, joins, group, first := q.renamed(), "", "true", ""
	with := []string{q.pairs(), q.named()}
	if q.Measured() {
		joins, group, first = "JOIN chosen USING (experiment_id, metric)", "metric", q.metricOrder()
		if table {
			with = append(with, labels, q.members(), q.sumTotals())
			columns += ", COALESCE(t.total, 0) AS total"
			joins += "\nLEFT JOIN totals t USING (metric)"
			if q.has("function_id") {
				columns += ", COALESCE(l.label, v.function) AS label"
				joins += "\nLEFT JOIN labels l ON l.experiment_id = v.experiment_id AND l.function_id = v.function_id"
			}
		}
	} else if table {
		for _, c := range q.Columns {
			if c.As == Count || c.As == Time {
				columns += fmt.Sprintf(", sum(v.%s) OVER ()::BIGINT AS \"%s\"", c.Name, TotalOf(c.Name))
			}
		}
	}
	if table {
		columns += q.leftOutColumns(group)
	}
	order := q.sortOrder() + q.order
	text := fmt.Sprintf("WITH %s\nSELECT %s FROM (SELECT %s FROM %s v\n%s\nWHERE %s)", strings.Join(with, ",\n"), q.chosen(), columns, q.from(), joins, q.where())
	if limit > 0 {
		text += fmt.Sprintf("\nQUALIFY row_number() OVER (PARTITION BY %s ORDER BY %s, experiment, experiment_id) <= %d", group, order, limit)
	}
	return text + "\nORDER BY " + first + order + ", experiment, experiment_id"
}

// members returns a CTE with the number of experiments that are added up.
func (q *Question) members() string {
	if !q.Measured() {
		return "members AS MATERIALIZED (SELECT count(DISTINCT experiment_id) AS n FROM " + q.from() + ")"
	}
	return "members AS MATERIALIZED (SELECT metric, count(*) AS n FROM chosen WHERE metric IS NOT NULL GROUP BY metric)"
}

// sumTotals returns a CTE with each metric's value of <Total>, its spread and its parts. The CTE reads members.
func (q *Question) sumTotals() string {
	columns := append([]string{"e.metric", "sum(e.value)::BIGINT AS total"}, SpreadColumns("value", TotalOf("value"))...)
	columns = append(columns, q.divided("value", TotalOf("value"))...)
	return "totals AS MATERIALIZED (SELECT " + strings.Join(columns, ", ") + `
FROM (SELECT experiment_id, metric, sum(value)::BIGINT AS value FROM stack_values JOIN chosen USING (experiment_id, metric) GROUP BY ALL) e JOIN members n USING (metric)` + q.by.join() + "\nGROUP BY ALL)"
}

// totalColumns lists the columns of sumTotals, after the metric and the total, that tables have.
func (q *Question) totalColumns() (names []string) {
	for _, of := range Spread {
		names = append(names, SpreadOf(TotalOf("value"), of))
	}
	for _, by := range q.by.Columns() {
		names = append(names, DividedColumn(TotalOf("value"), by))
	}
	return names
}

// leftOutColumns returns SQL for the columns of a table from which the effect of a limit is known: the
// number of all rows of a group, and the sum of their values.
func (q *Question) leftOutColumns(group string) string {
	columns := fmt.Sprintf(", count(*) OVER (PARTITION BY %s) AS \"%s\"", group, AllRows)
	if c := q.Primary(); c != "" {
		value := "v." + c
		if q.ListsTotal() {
			value = "CASE WHEN v.function <> '<Total>' OR v.kind <> 'artificial' THEN v." + c + " END"
		}
		columns += fmt.Sprintf(", sum(%s) OVER (PARTITION BY %s)::DOUBLE AS \"%s\"", value, group, AllValue)
	}
	return columns
}

// The columns of tables from which the effect of a limit is known.
const (
	AllRows  = "all rows"  // the number of all rows of the experiment and metric
	AllValue = "all value" // the sum of Primary over these
)

// ListsTotal reports whether <Total> is among the rows.
func (r *Request) ListsTotal() bool { return strings.HasPrefix(r.order, totalFirst) }

// Primary returns the first column of the table whose values sum to a total, or the column by which
// the rows are sorted; "" if there is none.
func (r *Request) Primary() string {
	switch {
	case r.Name == "leaks":
		return "leaked_bytes"
	case strings.HasSuffix(r.View, "heap_stacks"):
		return "allocated_bytes"
	case !r.CanAdd():
		return ""
	}
	for _, c := range r.Columns {
		if slices.Contains(summands, c.Name) && !slices.Contains([]string{"inclusive", "attributed", "threads", "processes", "amount"}, c.Name) {
			return c.Name
		}
	}
	return ""
}

// chooseMembers finds the properties of the experiments that the sum needs.
func (q *Question) chooseMembers(ctx context.Context) error {
	q.sayLeftOut()
	if err := q.sayApart(ctx); err != nil {
		return err
	}
	if q.By != "" {
		if err := q.chooseBreakdown(ctx); err != nil {
			return err
		}
	}
	if !q.has("node_id") {
		return nil
	}
	var err error
	q.oneBuild, err = q.holds(ctx, "WITH "+q.named()+", "+functionKeys+" SELECT count(*) = count(DISTINCT key) FROM function_keys")
	return err
}

// holds runs a query for one boolean, and returns its value.
func (q *Question) holds(ctx context.Context, query string) (yes bool, err error) {
	err = q.db.QueryRowContext(ctx, query).Scan(&yes)
	return yes, err
}

// remark adds a remark about experiments or values that the sum leaves out or could not add up.
func (q *Question) remark(format string, args ...any) {
	q.Remarks = append(q.Remarks, fmt.Sprintf(format, args...))
}

// sayLeftOut adds a remark for each metric that some of the experiments lack.
func (q *Question) sayLeftOut() {
	if !q.Measured() {
		return
	}
	without := map[string][]string{} // metrics by the names of the experiments that lack them
	var lists []string
	for _, m := range q.Metrics() {
		var lacking []string
		for _, e := range q.db.Experiments() {
			if !q.About(e.ExperimentID, m) {
				lacking = append(lacking, e.Name)
			}
		}
		if lacking == nil {
			continue
		}
		slices.Sort(lacking)
		list := queries.Count(len(lacking), "experiment") + fmt.Sprintf(" of %d without %%s: left out (%s)", q.db.Count, strings.ReplaceAll(someOf(lacking), "%", "%%"))
		if without[list] == nil {
			lists = append(lists, list)
		}
		without[list] = append(without[list], m)
	}
	for _, list := range lists {
		metrics := "the metric " + someOf(without[list])
		if len(without[list]) > 1 {
			metrics = "the metrics " + someOf(without[list])
		}
		q.remark(list, metrics)
	}
}
