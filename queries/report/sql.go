package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackmill/queries"
)

// labels gives each function a name that is unique in its experiment. Where needed, it adds the
// load object, the module or the address. Versions of code that was generated several times are
// numbered, because they have no address of their own.
const labels = `labels AS (
  SELECT f.experiment_id, f.function_id, CASE
    WHEN count(*) OVER name = 1 AND f.kind NOT IN ('static', 'plt') THEN f.name
    WHEN count(*) OVER object = 1 THEN f.name || ' (' || ` + queries.ObjectPath + ` || ')'
    WHEN count(*) OVER module = 1 THEN f.name || ' (' || COALESCE(NULLIF(u.short_path, ''), regexp_extract(u.name, '[^/]*$')) || ')'
    WHEN count(*) OVER place = 1 THEN f.name || ' (' || ` + queries.ObjectPath + ` || printf(' 0x%x)', f.address)
    ELSE f.name || ' (' || ` + queries.ObjectPath + ` || ' #' || row_number() OVER (place ORDER BY f.function_no) || ')' END AS label
  FROM named f
  LEFT JOIN load_objects o USING (experiment_id, load_object_id)
  LEFT JOIN modules u USING (experiment_id, module_id)
  WINDOW name AS (PARTITION BY f.experiment_id, f.name),
    object AS (PARTITION BY f.experiment_id, f.name, f.load_object_id),
    module AS (PARTITION BY f.experiment_id, f.name, f.load_object_id, f.module_id),
    place AS (PARTITION BY f.experiment_id, f.name, f.load_object_id, f.address)
)`

// aliases maps the values of Request.Alias to columns of functions (S4).
var aliases = map[string]string{"manual": "name", "gprofng": "gprofng_name", "perf": "perf_name"}

// named is a CTE of all functions, with the names that Request.Alias chooses.
func (q *Question) named() string {
	return "named AS MATERIALIZED (SELECT * REPLACE (" + aliases[q.Alias] + " AS name) FROM functions_wide)"
}

// pairs is a CTE of the chosen experiments and metrics.
func (q *Question) pairs() string {
	rows := []string{"(NULL, NULL)"}
	for _, id := range slices.Sorted(maps.Keys(q.metrics)) {
		for _, m := range q.metrics[id] {
			rows = append(rows, "("+queries.Quote(id, m)+")")
		}
	}
	return "chosen(experiment_id, metric) AS (VALUES " + strings.Join(rows, ", ") + ")"
}

// sql returns the SQL for the report's rows, with the view's columns and, for a table, those of
// extra. limit bounds the rows of each experiment and metric; 0: no limit.
func (q *Question) sql(table bool, limit int) string {
	with, columns, joins, group := "WITH "+q.pairs()+", "+q.named(), q.renamed(), "", "experiment_id"
	if q.Measured() {
		joins, group = "JOIN chosen USING (experiment_id, metric)", group+", metric"
	}
	if table {
		w, c, j := q.extra()
		with, columns, joins = with+w, columns+c+q.leftOutColumns("v."+strings.ReplaceAll(group, ", ", ", v.")), joins+j
	}
	order := q.sortOrder() + q.order
	text := fmt.Sprintf("%s\nSELECT %s FROM (SELECT %s FROM %s v\n%s\nWHERE %s)", with, q.chosen(), columns, q.from(), joins, q.where())
	if limit > 0 {
		text += fmt.Sprintf("\nQUALIFY row_number() OVER (PARTITION BY %s ORDER BY %s) <= %d", group, order, limit)
	}
	return text + "\nORDER BY experiment, " + group + ", " + order
}

// from returns the view that has the rows, or the macro with its arguments.
func (q *Question) from() string {
	from := q.View
	if by := ofWidth[q.Name]; by != "" && q.Width != defaultWidth {
		from = fmt.Sprintf("%s(%d)", by, q.Width.Nanoseconds())
	}
	if q.fragment != nil {
		from += "([" + queries.Quote(q.fragment...) + "])"
	}
	return from
}

// chosen returns the columns to show.
func (q *Question) chosen() string {
	if q.Fields == nil {
		return "*"
	}
	return `"` + strings.Join(q.Fields, `", "`) + `"`
}

// extra returns the parts of the SQL for columns that only tables show.
func (q *Question) extra() (with, columns, joins string) {
	if !q.Measured() {
		return "", q.sums(), ""
	}
	// <Total> is the sum over all stacks, in every mode. The CTE is materialized, because in a
	// filtered session the engine makes a wrong plan for a limit per metric if rows and totals are
	// computed together.
	with = ", " + labels + `,
totals AS MATERIALIZED (SELECT experiment_id, metric, sum(value)::BIGINT AS total FROM stack_values GROUP BY ALL)`
	columns += ", COALESCE(t.total, 0) AS total"
	joins += "\nLEFT JOIN totals t USING (experiment_id, metric)"
	if slices.Contains(q.columnsOfView(), "function_id") {
		columns += ", COALESCE(l.label, v.function) AS label"
		joins += "\nLEFT JOIN labels l ON l.experiment_id = v.experiment_id AND l.function_id = v.function_id"
	}
	if q.has("other_id") {
		columns += ", COALESCE(o.label, v.other) AS other_label"
		joins += "\nLEFT JOIN labels o ON o.experiment_id = v.experiment_id AND o.function_id = v.other_id"
	}
	return with, columns, joins
}

// where returns the condition for the requested rows.
func (q *Question) where() string {
	where := "true"
	if q.Mode != "" && q.has("mode") {
		where += " AND v.mode = '" + q.Mode + "'"
	}
	switch {
	case q.rows != nil:
		where += " AND " + q.rows(q)
	case q.functions != nil:
		where += " AND " + isOneOf(q.functions)
	}
	if q.objects != nil {
		where += " AND v.descriptor IN (" + queries.Quote(q.objects...) + ")"
	}
	return where
}

// renamed returns the columns of the view, in which the chosen alias replaces the names of
// functions.
func (q *Question) renamed() string {
	if q.Alias == "manual" {
		return "v.*"
	}
	var replaced []string
	for _, c := range []struct{ id, name string }{{"function_id", "function"}, {"other_id", "other"}} {
		if slices.Contains(q.columnsOfView(), c.id) {
			replaced = append(replaced, fmt.Sprintf("COALESCE((SELECT n.name FROM named n WHERE n.experiment_id = v.experiment_id "+
				"AND n.function_id = v.%s), v.%s) AS %s", c.id, c.name, c.name))
		}
	}
	if q.has("functions") && q.has("line") {
		replaced = append(replaced, startingFunctions)
	}
	if replaced == nil {
		return "v.*"
	}
	return "v.* REPLACE (" + strings.Join(replaced, ", ") + ")"
}

// startingFunctions is SQL for the chosen names of the functions that start at a line, as in the
// view source.
const startingFunctions = `COALESCE((
  SELECT string_agg(DISTINCT n.name, ', ' ORDER BY n.name)
  FROM named n JOIN instructions_wide i ON i.experiment_id = n.experiment_id AND i.function_id = n.function_id AND i."offset" = n."offset"
  WHERE n.experiment_id = v.experiment_id AND i.file = v.file AND i.line = v.line AND (v.mode <> 'user' OR n.kind <> 'body')), '') AS functions`

// isOneOf is the condition for rows of functions that have one of the names under any alias.
func isOneOf(names []string) string {
	return "(v.experiment_id, v.function_id) IN (SELECT (experiment_id, function_id) FROM functions_wide " +
		"WHERE list_has_any([name, gprofng_name, perf_name], [" + queries.Quote(names...) + "]))"
}

// sortOrder returns the SQL order for Request.Sort, which comes before the report's own order.
func (q *Question) sortOrder() string {
	if q.Sort == "" {
		return ""
	}
	name, reverse := strings.CutPrefix(q.Sort, "-")
	direction := "ASC"
	isText := slices.ContainsFunc(q.declared().Columns, func(c queries.Column) bool { return c.Name == name && c.Type == "VARCHAR" })
	if isText == reverse {
		direction = "DESC"
	}
	first := ""
	if q.Name == "functions" {
		first = totalFirst
	}
	return fmt.Sprintf("%s\"%s\" %s, ", first, name, direction)
}
