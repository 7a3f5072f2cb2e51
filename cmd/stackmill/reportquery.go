package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// labels names each function so that no two of an experiment look the same:
// by its load object, its module or its address when the name is not enough.
const labels = `labels AS (
  SELECT f.experiment_id, f.function_id, CASE
    WHEN count(*) OVER name = 1 AND f.kind NOT IN ('static', 'plt') THEN f.name
    WHEN count(*) OVER object = 1 THEN f.name || ' (' || o.name || ')'
    WHEN count(*) OVER module = 1 THEN f.name || ' (' || regexp_extract(u.name, '[^/]*$') || ')'
    ELSE f.name || ' (' || o.name || printf(' 0x%x)', f.address) END AS label
  FROM named f
  LEFT JOIN load_objects o USING (experiment_id, load_object_id)
  LEFT JOIN modules u USING (experiment_id, module_id)
  WINDOW name AS (PARTITION BY f.experiment_id, f.name),
    object AS (PARTITION BY f.experiment_id, f.name, f.load_object_id),
    module AS (PARTITION BY f.experiment_id, f.name, f.load_object_id, f.module_id)
)`

// aliases are the columns of functions with the name that --alias chooses (S4).
var aliases = map[string]string{"manual": "name", "gprofng": "gprofng_name", "perf": "perf_name"}

// named is the table functions with the chosen names.
func (r *reporter) named() string {
	return "named AS MATERIALIZED (SELECT * REPLACE (" + aliases[r.alias] + " AS name) FROM functions)"
}

// selection is what a report shows of the experiments that are open.
type selection struct {
	metrics   map[string][]string // by experiment id
	functions []string            // names; empty: all
	objects   []string            // descriptors of data objects; empty: all
}

// list writes strings for use in SQL, which ends at a NUL.
func list(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = "'" + strings.NewReplacer("'", "''", "\x00", "' || chr(0) || '").Replace(n) + "'"
	}
	return strings.Join(quoted, ", ")
}

// choose resolves the names given to the report.
func (r *reporter) choose(ctx context.Context) (*selection, error) {
	if len(r.db.Commits) == 0 {
		return nil, fmt.Errorf("the store %s is empty (run `stackmill ingest --store %s PATH` first)", r.store, r.store)
	}
	s := &selection{metrics: map[string][]string{}}
	if err := r.chooseMetrics(ctx, s); err != nil {
		return nil, err
	}
	if r.file != "" {
		if err := r.checkFile(ctx); err != nil {
			return nil, err
		}
	}
	if r.function != "" {
		known, err := firstColumn(ctx, r.db, fmt.Sprintf(`SELECT DISTINCT unnest([name, gprofng_name, perf_name]) AS name FROM functions
			WHERE kind <> 'inlined' OR %t ORDER BY name`, r.inline))
		if err != nil {
			return nil, err
		}
		if s.functions = namesOf(known, r.function); s.functions == nil {
			return nil, fmt.Errorf("no function %q%s (stackmill report functions lists them)", r.function, near(closest(r.function, known)))
		}
	}
	if r.object != "" {
		known, err := firstColumn(ctx, r.db, "SELECT DISTINCT descriptor FROM data_objects ORDER BY descriptor")
		if err != nil {
			return nil, err
		}
		if s.objects = namesOf(known, r.object); s.objects == nil {
			return nil, fmt.Errorf("no data object %q%s (stackmill report data-objects lists them)", r.object, near(closest(r.object, known)))
		}
	}
	return s, nil
}

func (r *reporter) chooseMetrics(ctx context.Context, s *selection) error {
	if r.metric == "" {
		first, err := r.defaultMetrics(ctx)
		for id, m := range first {
			s.metrics[id] = []string{m}
		}
		return err
	}
	rows, err := r.db.QueryContext(ctx, "SELECT experiment_id, metric FROM metrics ORDER BY metric")
	if err != nil {
		return err
	}
	defer rows.Close()
	var known []string
	for rows.Next() {
		var id, name string
		if err := rows.Scan(&id, &name); err != nil {
			return err
		}
		if r.metric == "all" || r.metric == name {
			s.metrics[id] = append(s.metrics[id], name)
		}
		if !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	if len(s.metrics) == 0 && r.metric != "all" {
		return fmt.Errorf("no metric %q%s (there are %s)", r.metric, near(closest(r.metric, known)), strings.Join(known, ", "))
	}
	return rows.Err()
}

// namesOf returns the names that are pattern, else those that contain it,
// else those that match it as a regular expression.
func namesOf(known []string, pattern string) []string {
	if slices.Contains(known, pattern) {
		return []string{pattern}
	}
	re, err := regexp.Compile(pattern)
	for _, matches := range []func(string) bool{
		func(s string) bool { return strings.Contains(s, pattern) },
		func(s string) bool { return err == nil && re.MatchString(s) },
	} {
		var found []string
		for _, name := range known {
			if matches(name) {
				found = append(found, name)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// pairs writes the chosen experiments and metrics as a table.
func (s *selection) pairs() string {
	rows := []string{"(NULL, NULL)"}
	for _, id := range slices.Sorted(maps.Keys(s.metrics)) {
		for _, m := range s.metrics[id] {
			rows = append(rows, "("+list([]string{id, m})+")")
		}
	}
	return "chosen(experiment_id, metric) AS (VALUES " + strings.Join(rows, ", ") + ")"
}

// query returns the SQL of the report's rows: the view's columns, then, if
// wanted, the columns that only tables show.
func (r *reporter) query(s *selection, extra bool) string {
	from := r.view
	if r.name == "timeline" && r.width != time.Second {
		from = fmt.Sprintf("timeline_by(%d)", r.width.Nanoseconds())
	}
	with, columns, joins := "WITH "+s.pairs()+", "+r.named(), r.renamed(), "JOIN chosen USING (experiment_id, metric)"
	if extra {
		with += ", " + labels + `,
totals AS (SELECT experiment_id, metric, inclusive AS total FROM function_metrics
  WHERE mode = '` + cmp.Or(r.mode, "user") + `' AND function = '<Total>' AND kind = 'artificial')`
		columns += ", t.total"
		joins += "\nLEFT JOIN totals t USING (experiment_id, metric)"
		if slices.Contains(r.columnsOfView(), "function_id") {
			columns += ", COALESCE(l.label, v.function) AS label"
			joins += "\nLEFT JOIN labels l ON l.experiment_id = v.experiment_id AND l.function_id = v.function_id"
		}
		if r.name == "callers-callees" {
			columns += ", COALESCE(o.label, v.other) AS other_label"
			joins += "\nLEFT JOIN labels o ON o.experiment_id = v.experiment_id AND o.function_id = v.other_id"
		}
	}
	where := "true"
	if r.mode != "" {
		where += " AND v.mode = '" + r.mode + "'"
	}
	switch {
	case r.rows != nil:
		where += " AND " + r.rows(r, s)
	case s.functions != nil:
		where += " AND " + isOneOf(s.functions)
	}
	if s.objects != nil {
		where += " AND v.descriptor IN (" + list(s.objects) + ")"
	}
	order := r.sortOrder() + r.order
	query := fmt.Sprintf("%s\nSELECT * FROM (SELECT %s FROM %s v\n%s\nWHERE %s)", with, columns, from, joins, where)
	if r.limit > 0 && (r.print == nil || r.format != "table") {
		query += fmt.Sprintf("\nQUALIFY row_number() OVER (PARTITION BY experiment_id, metric ORDER BY %s) <= %d", order, r.limit)
	}
	return query + "\nORDER BY experiment, metric, " + order
}

// renamed are the columns of the view, those with functions' names as --alias
// chooses them.
func (r *reporter) renamed() string {
	if r.alias == "manual" {
		return "v.*"
	}
	var replaced []string
	for _, c := range []struct{ id, name string }{{"function_id", "function"}, {"other_id", "other"}} {
		if slices.Contains(r.columnsOfView(), c.id) {
			replaced = append(replaced, fmt.Sprintf("COALESCE((SELECT n.name FROM named n WHERE n.experiment_id = v.experiment_id "+
				"AND n.function_id = v.%s), v.%s) AS %s", c.id, c.name, c.name))
		}
	}
	if slices.Contains(r.columnsOfView(), "functions") {
		replaced = append(replaced, startingFunctions)
	}
	if replaced == nil {
		return "v.*"
	}
	return "v.* REPLACE (" + strings.Join(replaced, ", ") + ")"
}

// startingFunctions are the chosen names of the functions that start at a line,
// as the view source lists them.
const startingFunctions = `COALESCE((
  SELECT string_agg(DISTINCT n.name, ', ' ORDER BY n.name)
  FROM named n JOIN instructions i ON i.experiment_id = n.experiment_id AND i.function_id = n.function_id AND i."offset" = n."offset"
  WHERE n.experiment_id = v.experiment_id AND i.file = v.file AND i.line = v.line AND (v.mode <> 'user' OR n.kind <> 'body')), '') AS functions`

// isOneOf is true for the rows of the functions that have one of the names,
// whichever alias is shown.
func isOneOf(names []string) string {
	return "(v.experiment_id, v.function_id) IN (SELECT (experiment_id, function_id) FROM functions " +
		"WHERE list_has_any([name, gprofng_name, perf_name], [" + list(names) + "]))"
}

// sortOrder is what --sort puts before the report's own order.
func (r *reporter) sortOrder() string {
	if r.sort == "" {
		return ""
	}
	name, reverse := strings.CutPrefix(r.sort, "-")
	direction := "ASC"
	for _, c := range r.declared().Columns {
		if c.Name == name && (c.Type != "VARCHAR") != reverse {
			direction = "DESC"
		}
	}
	first := ""
	if r.name == "functions" {
		first = totalFirst
	}
	return fmt.Sprintf("%s\"%s\" %s, ", first, name, direction)
}
