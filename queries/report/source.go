package report

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackmill/queries"
)

// fileNamed is the SQL condition that a column is the path name, or ends in it.
func fileNamed(column, name string) string {
	return fmt.Sprintf("(%s = %s OR ends_with(%s, %s))", column, queries.Quote(name), column, queries.Quote("/"+name))
}

// sourceRows is the condition for the lines to show: those of the requested file or functions. If
// none are requested, it is the file with the largest value, for each experiment and metric.
func (q *Question) sourceRows() string {
	var all []string
	if q.File != "" {
		all = append(all, fileNamed("v.file", q.File))
	}
	switch {
	case q.functions != nil && q.Sum:
		all = append(all, "("+strings.Join(append(q.lines, "false"), " OR ")+")")
	case q.functions != nil:
		all = append(all, "EXISTS (SELECT 1 FROM ("+lineRanges(q.functions)+") x WHERE x.experiment_id = v.experiment_id AND x.file = v.file AND v.line BETWEEN x.first AND x.last)")
	}
	if all == nil && q.Sum {
		all = append(all, q.highest.condition("v.file"))
	}
	if all == nil {
		all = append(all, `(v.experiment_id, v.metric, v.file) IN (
  SELECT (s.experiment_id, s.metric, s.file)
  FROM source_values s JOIN modes m ON by_mode(m.mode, s.in_user, s.in_expert, s.in_machine)
  WHERE m.mode = '`+q.Mode+`' AND s.file <> ''
  GROUP BY s.experiment_id, s.metric, s.file
  QUALIFY row_number() OVER (PARTITION BY s.experiment_id, s.metric ORDER BY sum(s.exclusive) DESC, max(s.inclusive) DESC, s.file) = 1)`)
	}
	return strings.Join(all, " AND ")
}

// inlinedRows is sourceRows, but shows everything if neither a file nor functions are requested.
func (q *Question) inlinedRows() string {
	if q.File == "" && q.functions == nil {
		return "true"
	}
	return q.sourceRows()
}

// lineRanges is a query for the first and last line of functions and their bodies (S11), by file. It
// includes lines with values, and the lines of their code in the file in which the code starts.
func lineRanges(names []string) string {
	return `WITH meant AS MATERIALIZED (SELECT experiment_id, function_id FROM functions_wide WHERE list_has_any([name, gprofng_name, perf_name], [` + queries.Quote(names...) + `])),
parts AS MATERIALIZED (
  SELECT experiment_id, function_id FROM meant
  UNION
  SELECT f.experiment_id, f.function_id FROM functions_wide f JOIN meant w ON w.experiment_id = f.experiment_id AND w.function_id = f.body_of AND f.kind = 'body'),
code AS MATERIALIZED (
  SELECT i.experiment_id, i.function_id, i.file, i.line FROM instructions_wide i SEMI JOIN parts USING (experiment_id, function_id)
  WHERE i.line > 0
  QUALIFY i.file = first_value(i.file) OVER (PARTITION BY i.experiment_id, i.function_id ORDER BY i."offset"))
SELECT experiment_id, file, min(line) AS first, max(line) AS last FROM (
  SELECT * FROM code
  UNION ALL
  SELECT experiment_id, function_id, file, line FROM line_values_wide v SEMI JOIN parts USING (experiment_id, function_id)
  WHERE (in_user OR in_expert OR in_machine) AND line > 0
) GROUP BY experiment_id, function_id, file`
}

// disasmRows is the condition for the functions to show: the requested ones or, for each experiment
// and metric, the one with the largest value whose instructions are known.
func (q *Question) disasmRows() string {
	if q.functions != nil {
		return isOneOf(q.functions)
	}
	if q.Sum {
		return q.highest.condition("v.function_id")
	}
	return `(v.experiment_id, v.metric, v.function_id) IN (
  SELECT (f.experiment_id, f.metric, f.function_id) FROM function_metrics f
  SEMI JOIN (
    SELECT DISTINCT i.experiment_id, unnest([g.function_id, g.body_of]) AS function_id
    FROM instructions_wide i JOIN functions g USING (experiment_id, function_id)
  ) c ON c.experiment_id = f.experiment_id AND c.function_id = f.function_id
  WHERE f.mode = '` + q.Mode + `'
  QUALIFY row_number() OVER (PARTITION BY f.experiment_id, f.metric ORDER BY f.exclusive DESC, f.inclusive DESC, f.function, f.function_id) = 1)`
}

// highestCode has, for each metric, the files or functions that a sum over experiments shows if none are
// requested: the ones with the largest value, in all builds.
type highestCode map[string][]string // SQL of the files or identifiers

// condition returns the condition for their rows.
func (h highestCode) condition(column string) string {
	conditions := []string{"false"}
	for _, metric := range slices.Sorted(maps.Keys(h)) {
		conditions = append(conditions, "v.metric = "+queries.Quote(metric)+" AND "+column+" IN ("+strings.Join(h[metric], ", ")+")")
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// highestFiles is a query for the source file with the largest value, under all its paths.
const highestFiles = `SELECT metric, unnest(files) AS file FROM (
  SELECT s.metric, list(DISTINCT s.file) AS files
  FROM source_values s JOIN chosen USING (experiment_id, metric) JOIN modes m ON by_mode(m.mode, s.in_user, s.in_expert, s.in_machine)
  LEFT JOIN file_keys f ON f.file = s.file
  WHERE m.mode = '%s' AND s.file <> ''
  GROUP BY s.metric, COALESCE(f.short, s.file)
  QUALIFY row_number() OVER (PARTITION BY s.metric ORDER BY sum(s.exclusive) DESC, sum(s.inclusive) DESC, COALESCE(f.short, s.file)) = 1)`

// highestFunctions is a query for the function with the largest value whose instructions are known,
// in all its builds.
const highestFunctions = `SELECT metric, unnest(ids)::VARCHAR AS function_id FROM (
  SELECT f.metric, list(DISTINCT f.function_id) AS ids FROM function_metrics f JOIN chosen USING (experiment_id, metric) JOIN function_keys k USING (function_id)
  WHERE f.mode = '%s' AND k.key IN (
    SELECT k.key FROM (SELECT DISTINCT unnest([g.function_id, g.body_of]) AS function_id FROM instructions_wide i JOIN functions g USING (experiment_id, function_id)) c JOIN function_keys k USING (function_id)
  )
  GROUP BY f.metric, k.key
  QUALIFY row_number() OVER (PARTITION BY f.metric ORDER BY sum(f.exclusive) DESC, sum(f.inclusive) DESC, min(k.name), k.key) = 1)`

// chooseCode finds the lines of the requested functions for a sum, and the code that a sum shows if
// none is requested.
func (q *Question) chooseCode(ctx context.Context) error {
	if q.ofFiles && q.functions != nil {
		ranges, err := q.db.Records(ctx, "SELECT DISTINCT file, first, last FROM ("+lineRanges(q.functions)+") ORDER BY ALL")
		for _, rec := range ranges {
			q.lines = append(q.lines, fmt.Sprintf("v.file = %s AND v.line BETWEEN %d AND %d", queries.Quote(rec.Text("file")), rec.Number("first"), rec.Number("last")))
		}
		return err
	}
	if !q.withText || q.File != "" || q.Function != "" {
		return nil
	}
	query, column := q.named()+", "+shortFiles+"\n"+highestFiles, "file"
	if q.Name == "disasm" {
		query, column = q.named()+", "+functionKeys+"\n"+highestFunctions, "function_id"
	}
	rows, err := q.db.Records(ctx, "WITH "+q.pairs()+", "+strings.Replace(query, "%s", q.Mode, 1))
	q.highest = highestCode{}
	for _, rec := range rows {
		value := rec.Text(column)
		if column == "file" {
			value = queries.Quote(value)
		}
		q.highest[rec.Text("metric")] = append(q.highest[rec.Text("metric")], value)
	}
	return err
}

// Line is a source line in one experiment and metric.
type Line struct {
	Experiment, Metric, File string
	Number                   int64
}

// Inlined returns the values of inlined code by the line at which it was inlined, if that was
// requested (S10).
func (q *Question) Inlined(ctx context.Context) (map[Line][]queries.Record, error) {
	if !q.Inline {
		return nil, nil
	}
	if q.Sum {
		return q.inlinedSum(ctx)
	}
	rows, err := q.db.Records(ctx, "WITH "+q.pairs()+" SELECT v.* FROM source_inlined v JOIN chosen USING (experiment_id, metric) WHERE v.mode = '"+q.Mode+"' ORDER BY v.path, v.inlined_file")
	at := map[Line][]queries.Record{}
	for _, rec := range rows {
		l := Line{rec.Text("experiment_id"), rec.Text("metric"), rec.Text("file"), rec.Number("line")}
		at[l] = append(at[l], rec)
	}
	return at, err
}

// inlinedSum is Inlined for a sum over experiments.
func (q *Question) inlinedSum(ctx context.Context) (map[Line][]queries.Record, error) {
	of := *q.Request
	of.Report, _ = Find("source-inlined")
	of.Limit, of.Sort, of.Fields = 0, "", nil
	inlined := &Question{Request: &of, db: q.db, metrics: q.metrics}
	rows, err := q.db.Records(ctx, inlined.sumSQL(true, 0))
	at := map[Line][]queries.Record{}
	for _, rec := range rows {
		l := Line{"", rec.Text("metric"), rec.Text("file"), rec.Number("line")}
		at[l] = append(at[l], rec)
	}
	return at, err
}

// SourceLines returns the lines of files, as far as the store has them.
func (q *Question) SourceLines(ctx context.Context, files []string) ([]queries.Record, error) {
	if q.Sum {
		return q.db.Records(ctx, "SELECT file, line, min(text) AS text FROM source_lines_wide WHERE file IN ("+queries.Quote(files...)+") GROUP BY file, line HAVING min(text) = max(text)")
	}
	return q.db.Records(ctx, "SELECT experiment_id, file, line, text FROM source_lines_wide WHERE file IN ("+queries.Quote(files...)+")")
}

// Frames returns the frames of the stacks of one experiment's rows by `stack_id`, leaf first. A
// frame has the function's `name`, the instruction's `distance` from its start, `file` and `line`.
// With Inline, inlined functions are frames of their own, without a distance. Then the line of a
// function with inlined code is where it calls the inlined function.
func (q *Question) Frames(ctx context.Context, rows []queries.Record) (map[int64][]queries.Record, error) {
	frames := map[int64][]queries.Record{}
	if len(rows) == 0 {
		return frames, nil
	}
	ids := map[string][]string{} // by experiment; for a sum, any experiment that has the stack
	for _, rec := range rows {
		of := rec.Text("experiment_id")
		if q.Sum {
			of = rec.Text("of_experiment")
		}
		ids[of] = append(ids[of], fmt.Sprint(rec.Number("stack_id")))
	}
	var asked []string
	for _, of := range slices.Sorted(maps.Keys(ids)) {
		asked = append(asked, "experiment_id = "+queries.Quote(of)+" AND stack_id IN ("+strings.Join(ids[of], ", ")+")")
	}
	levels := `SELECT experiment_id, location_id, "offset", function_id, file, line, 0 AS level FROM locations_wide`
	if q.Inline {
		levels = `SELECT v.experiment_id, v.location_id, l."offset", v.function_id, v.file, v.line, v.level
  FROM location_levels v JOIN locations_wide l USING (experiment_id, location)`
	}
	found, err := q.db.Records(ctx, "WITH "+q.named()+`, asked AS MATERIALIZED (
  SELECT * FROM frames WHERE `+strings.Join(asked, " OR ")+`
), levels AS (
  `+levels+`
)
SELECT a.stack_id, n.name, l.file, l.line,
  CASE WHEN l.level = 0 AND n.size > 0 AND l."offset" - n."offset" BETWEEN 0 AND n.size THEN l."offset" - n."offset" END AS distance
FROM asked a
JOIN levels l ON l.experiment_id = a.experiment_id AND l.location_id = a.location_id
JOIN named n ON n.experiment_id = l.experiment_id AND n.function_id = l.function_id
ORDER BY a.stack_id, a."position", l.level DESC`)
	for _, f := range found {
		id := f.Number("stack_id")
		frames[id] = append(frames[id], f)
	}
	return frames, err
}
