package report

import (
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
)

// sum builds the SQL of a sum over experiments.
type sum struct {
	*Question
	table  bool
	values []string          // columns of the view that are added up
	keys   map[string]string // key column -> SQL of what identifies a row
	joins  []string          // of the view's rows
	ctes   []string
}

// functionKeys is a CTE with the key of each function, which is the same in every build, and the
// names under which all builds of the function are shown. A function has the same identifier in all
// experiments, so the row of any experiment has the key.
const functionKeys = `function_keys AS MATERIALIZED (
  SELECT *, min(function_id) OVER (PARTITION BY key) AS of_builds FROM (
  SELECT f.function_id, function_key(f.r.name_scope, f.function_id, o.short_path, u.short_path, f.r.linkage_name, f.r.name) AS key,
    f.r.kind, f.r.address, n.shown AS name, o.name AS load_object, u.name AS module,
    ` + queries.ObjectPath + ` AS object, COALESCE(NULLIF(u.short_path, ''), regexp_extract(u.name, '[^/]*$')) AS unit
  FROM (SELECT function_id, arg_min(f, experiment_id) AS r FROM functions_wide f GROUP BY function_id) f
  JOIN (SELECT function_id, min(name) AS shown FROM named GROUP BY function_id) n USING (function_id)
  LEFT JOIN load_objects o ON o.experiment_id = f.r.experiment_id AND o.load_object_id = f.r.load_object_id
  LEFT JOIN modules u ON u.experiment_id = f.r.experiment_id AND u.module_id = f.r.module_id)
)`

// functionLabels is a CTE with a name for each function that no other one has.
const functionLabels = `function_labels AS MATERIALIZED (
  SELECT key, r.name, r.load_object, r.module, CASE
    WHEN count(*) OVER name = 1 AND r.kind NOT IN ('static', 'plt') THEN r.name
    WHEN count(*) OVER object = 1 THEN r.name || ' (' || r.object || ')'
    WHEN count(*) OVER unit = 1 THEN r.name || ' (' || r.unit || ')'
    WHEN count(*) OVER place = 1 THEN r.name || ' (' || r.object || printf(' 0x%x)', r.address)
    ELSE r.name || ' (' || r.object || ' #' || row_number() OVER (place ORDER BY key) || ')' END AS label
  FROM (SELECT key, arg_min(k, function_id) AS r FROM function_keys k GROUP BY key)
  WINDOW name AS (PARTITION BY r.name),
    object AS (PARTITION BY r.name, r.object),
    unit AS (PARTITION BY r.name, r.object, r.unit),
    place AS (PARTITION BY r.name, r.object, r.address)
)`

// nodePaths is a CTE with an identifier for each path of the call tree that is the same in every
// build. It is computed as in call_paths, but from the keys of the functions.
const nodePaths = `node_paths_of_keys AS MATERIALIZED (
  WITH parts AS (
    SELECT n.experiment_id, n.call_node, n.last, n.depth, n.function_id, path_part(COALESCE(k.key, n.function_id), n.depth) AS part, path_part(n.function_id, n.depth) AS own
    FROM call_nodes_wide n LEFT JOIN function_keys k USING (function_id)
  ),
  ended AS (
    SELECT experiment_id, last + 1 AS call_node, sum(part) AS part, sum(own) AS own FROM parts GROUP BY ALL
  ),
  summed AS (
    SELECT p.*, sum(p.part - COALESCE(e.part, 0)) OVER w AS path, sum(p.own - COALESCE(e.own, 0)) OVER w AS own_path
    FROM parts p LEFT JOIN ended e USING (experiment_id, call_node)
    WINDOW w AS (PARTITION BY p.experiment_id ORDER BY p.call_node ROWS UNBOUNDED PRECEDING)
  )
  SELECT DISTINCT (own_path & 9223372036854775807)::BIGINT AS node_id, (path & 9223372036854775807)::BIGINT AS path,
    CASE WHEN depth > 0 THEN ((path - part) & 9223372036854775807)::BIGINT END AS parent_path
  FROM summed
)`

// prepare determines the columns, keys and joins of the sum.
func (s *sum) prepare() {
	s.values = s.summedColumns()
	s.keys = map[string]string{}
	if s.has("function_id") || s.has("other_id") {
		s.ctes = append(s.ctes, functionKeys, functionLabels)
	}
	keys := s.addition().keys
	if s.has("function_id") {
		s.joins = append(s.joins, "LEFT JOIN function_keys k ON k.function_id = v.function_id")
	}
	for _, key := range keys {
		s.keys[key] = s.identity(key)
	}
}

// identity returns SQL for the value that identifies a row in all experiments, for a key of the
// addition. It adds the joins that this SQL needs.
func (s *sum) identity(key string) string {
	switch key {
	case "function_id":
		return "COALESCE(k.key, v.function_id)"
	case "code_function_id":
		return "v.function_id"
	case "other_id":
		s.joins = append(s.joins, "LEFT JOIN function_keys k2 ON k2.function_id = v.other_id")
		return "COALESCE(k2.key, v.other_id)"
	case "node_id":
		if s.oneBuild {
			return "v.node_id"
		}
		s.ctes = append(s.ctes, nodePaths)
		s.joins = append(s.joins, "LEFT JOIN node_paths_of_keys p ON p.node_id = v.node_id")
		return "p.path"
	case "load_object_id":
		s.ctes = append(s.ctes, "object_keys AS MATERIALIZED (SELECT load_object_id, arg_min("+queries.ObjectPath+", experiment_id) AS key FROM load_objects o GROUP BY ALL)")
		s.joins = append(s.joins, "LEFT JOIN object_keys k3 ON k3.load_object_id = v.load_object_id")
		return "k3.key"
	case "module_id":
		s.ctes = append(s.ctes, "module_keys AS MATERIALIZED (SELECT u.module_id, arg_min(concat_ws(chr(10), "+queries.ObjectPath+`, COALESCE(NULLIF(u.short_path, ''), u.name)), u.experiment_id) AS key
  FROM modules u LEFT JOIN load_objects o USING (experiment_id, load_object_id) GROUP BY ALL)`)
		s.joins = append(s.joins, "LEFT JOIN module_keys k4 ON k4.module_id = v.module_id")
		return "k4.key"
	case "file", "inlined_file", "scope":
		return s.shortFile(key)
	}
	return `v."` + key + `"`
}

// shortFiles is a CTE with the part of each file's path that is the same for builds in other
// directories: the path below the common directory of the sources that were compiled together. A path
// whose short form would be ambiguous in an experiment is not shortened.
const shortFiles = `bases AS (
  SELECT DISTINCT left(name, length(name) - length(short_path)) AS base FROM modules
  WHERE starts_with(name, '/') AND short_path <> '' AND ends_with(name, '/' || short_path)
), below AS (
  SELECT f.file, COALESCE(substr(f.file, max(length(b.base)) + 1), f.file) AS short
  FROM (SELECT DISTINCT file FROM source_values) f LEFT JOIN bases b ON starts_with(f.file, b.base) GROUP BY f.file
), file_keys AS MATERIALIZED (
  SELECT file, CASE WHEN short IN (
    SELECT short FROM (SELECT DISTINCT experiment_id, file FROM source_values) JOIN below USING (file) GROUP BY experiment_id, short HAVING count(*) > 1
  ) THEN file ELSE short END AS short
  FROM below
)`

// shortFile returns SQL for the part of a path that is the same for builds in other directories.
func (s *sum) shortFile(column string) string {
	if !slices.Contains(s.ctes, shortFiles) {
		s.ctes = append(s.ctes, shortFiles)
	}
	of := "path_of_" + column
	s.joins = append(s.joins, fmt.Sprintf(`LEFT JOIN file_keys %[1]s ON %[1]s.file = v."%[2]s"`, of, column))
	return fmt.Sprintf(`COALESCE(%s.short, v."%s")`, of, column)
}

// with returns the CTEs. The last one, `summed`, has the rows.
func (s *sum) with() []string {
	with := []string{s.pairs(), s.named(), s.members()}
	if s.by != nil {
		with = append(with, s.by.cte())
	}
	if s.Measured() {
		with = append(with, s.sumTotals())
	}
	with = append(with, s.ctes...)
	if s.Name == "source" {
		with = append(with, s.highestLines())
	}
	return append(with, s.each(), s.summed())
}

// common returns the columns that every row of a sum keeps, as far as the view has them.
func (s *sum) common() (columns []string) {
	for _, c := range []string{"mode", "metric", "unit"} {
		if s.has(c) && s.keys[c] == "" {
			columns = append(columns, c)
		}
	}
	return columns
}

// each returns a CTE with the rows of each experiment. It adds up rows that have the same key in one
// experiment.
func (s *sum) each() string {
	columns, joins := []string{"v.experiment_id"}, ""
	for _, c := range s.common() {
		columns = append(columns, "v."+c)
	}
	for i, key := range s.addition().keys {
		columns = append(columns, fmt.Sprintf("%s AS key_%d", s.keys[key], i+1))
	}
	for _, c := range s.columnsOfView() {
		if e := s.aggregate(c, "v.", s.ofBuild); e != "" {
			columns = append(columns, e+` AS "`+c+`"`)
		}
	}
	if s.has("function_id") {
		columns = append(columns, "min(COALESCE(k.key, v.function_id)) AS of_function")
	}
	if s.has("other_id") {
		columns = append(columns, "min(COALESCE(k2.key, v.other_id)) AS of_other")
	}
	if s.Measured() {
		joins = "JOIN chosen USING (experiment_id, metric)\n"
	}
	from := s.from()
	if s.has("functions") && s.has("line") && s.Alias != "manual" {
		from = "(SELECT v.* REPLACE (" + startingFunctions + ") FROM " + from + " v)"
	}
	return fmt.Sprintf("each AS (SELECT %s\nFROM %s v\n%s\nWHERE %s\nGROUP BY ALL)", strings.Join(columns, ", "), from, joins+strings.Join(s.joins, "\n"), s.where())
}

// ofBuild returns SQL for a column whose value in the view may differ between builds; "" for other
// columns.
func (s *sum) ofBuild(column string) string {
	joined := func(table string) bool {
		return slices.ContainsFunc(s.joins, func(j string) bool { return strings.HasPrefix(j, "LEFT JOIN "+table+" ") })
	}
	switch {
	case column == "function" && joined("function_keys k"):
		return "min(COALESCE(k.name, v.function))"
	case column == "other" && joined("function_keys k2"):
		return "min(COALESCE(k2.name, v.other))"
	case column == "function_key":
		return "min(k.key)"
	case column == "function_id" && s.keys["code_function_id"] != "":
		return ""
	case column == "function_id":
		return "min(COALESCE(k.of_builds, v.function_id))"
	case column == "other_id":
		return "min(COALESCE(k2.of_builds, v.other_id))"
	case column == "node_id":
		return "min(" + s.keys["node_id"] + ")"
	case column == "parent_id" && joined("node_paths_of_keys p"):
		return "min(p.parent_path)"
	}
	return ""
}

// aggregate returns SQL that combines a column's values into one; "" if the column is a key, is among
// the common columns, or names the experiment.
func (s *sum) aggregate(column, from string, special func(column string) string) string {
	of := from + `"` + column + `"`
	switch {
	case column == "experiment_id" || column == "experiment" || slices.Contains(s.common(), column):
		return ""
	case s.keys[column] == `v."`+column+`"`:
		return "" // the key itself
	case special != nil && special(column) != "":
		return special(column)
	case column == "amount": // not a whole number
		return "sum(" + of + ")"
	case slices.Contains(s.values, column):
		return "sum(" + of + ")::BIGINT"
	case slices.Contains(ratios, column):
		return ""
	case aggregates[column] != "":
		return aggregates[column] + "(" + of + ")"
	}
	return fmt.Sprintf("CASE WHEN min(%[1]s) IS NOT DISTINCT FROM max(%[1]s) THEN min(%[1]s) END", of)
}

// summed returns a CTE with the rows of the sum.
func (s *sum) summed() string {
	var columns []string
	for _, c := range s.common() {
		columns = append(columns, "e."+c)
	}
	for i, key := range s.addition().keys {
		columns = append(columns, fmt.Sprintf("e.key_%d", i+1))
		if s.keys[key] == `v."`+key+`"` {
			columns = append(columns, fmt.Sprintf(`e.key_%d AS "%s"`, i+1, key))
		}
	}
	for _, c := range s.columnsOfView() {
		if e := s.aggregate(c, "e.", nil); e != "" {
			columns = append(columns, e+` AS "`+c+`"`)
		}
	}
	columns = append(columns, s.ratios()...)
	columns = append(columns, "any_value(n.n) AS experiments", "count(*) AS present_in", "min(e.experiment_id) AS of_experiment")
	for _, c := range []string{"function", "other"} {
		if s.has(c + "_id") {
			columns = append(columns, fmt.Sprintf("min(e.of_%[1]s) AS of_%[1]s", c))
		}
	}
	for _, c := range s.values {
		columns = append(columns, SpreadColumns(c, c)...)
	}
	for _, c := range s.values {
		columns = append(columns, s.divided(c, c)...)
	}
	members := "members n ON true"
	if s.Measured() {
		members = "members n USING (metric)"
	}
	return fmt.Sprintf("summed AS (SELECT %s\nFROM each e JOIN %s%s\nGROUP BY ALL)", strings.Join(columns, ", "), members, s.by.join())
}

// ratios returns SQL for columns that are ratios of sums.
func (s *sum) ratios() (columns []string) {
	for _, c := range s.columnsOfView() {
		switch c {
		case "mean_ns":
			value, number := "total_ns", "timed"
			if s.has("wait_ns") {
				value = "wait_ns"
			}
			if !s.has("timed") {
				number = "waits"
			}
			columns = append(columns, fmt.Sprintf("(sum(e.%s) // NULLIF(sum(e.%s), 0))::BIGINT AS mean_ns", value, number))
		case "running_percent":
			columns = append(columns, "round(100.0 * sum(e.running_ns) / NULLIF(sum(e.enabled_ns), 0), 2) AS running_percent")
		}
	}
	return columns
}

// SpreadColumns returns SQL for the columns of Spread of a column. name is the prefix of their names. The rows are a
// table e of the experiments with a value, joined to a table n with the number n of all experiments. Experiments that lack
// the row have the value 0, which no other value is below.
func SpreadColumns(column, name string) (columns []string) {
	// The kth of all values, from 0: 0 for the experiments that lack the row, then the others.
	kth := func(k string) string {
		return fmt.Sprintf(`CASE WHEN %[2]s < any_value(n.n) - count(*) THEN 0 ELSE list_sort(list(COALESCE(e."%[1]s", 0)))[%[2]s - any_value(n.n) + count(*) + 1] END`, column, k)
	}
	for i, of := range []string{
		fmt.Sprintf(`CASE WHEN count(*) < any_value(n.n) THEN 0 ELSE min(COALESCE(e."%s", 0)) END`, column),
		"((" + kth("(any_value(n.n) - 1) // 2") + " + " + kth("any_value(n.n) // 2") + ") / 2)::DOUBLE",
		fmt.Sprintf(`max(COALESCE(e."%s", 0))`, column),
		fmt.Sprintf(`round(max(e."%[1]s")::DOUBLE * any_value(n.n) / NULLIF(sum(e."%[1]s"), 0) - 1, 6)`, column),
	} {
		columns = append(columns, of+` AS "`+SpreadOf(name, Spread[i])+`"`)
	}
	return columns
}

// columnsOfSum returns the names of the columns of a sum, in order, without the columns for the values
// of a label.
func (r *Request) columnsOfSum() (names []string) {
	for _, c := range r.columnsOfView() {
		if c != "experiment_id" && c != "experiment" {
			names = append(names, c)
		}
	}
	names = append(names, "experiments", "present_in")
	for _, c := range r.summedColumns() {
		for _, of := range Spread {
			names = append(names, SpreadOf(c, of))
		}
	}
	return names
}

// recomputed returns SQL for a column whose value depends on all rows of the sum; "" for other columns.
func (s *sum) recomputed(column string) string {
	switch {
	case column == "share":
		return "COALESCE(v.value / NULLIF(t.total, 0), 0)::DOUBLE"
	case column == "high" && s.Name == "source":
		return high("h.highest", "h.highest_inclusive")
	case column == "high":
		return high("max(v.exclusive) OVER code", "max(v.inclusive) OVER code")
	case s.Name == "data-layout" && column == "data_object_id":
		return "(hash(v.descriptor, v.key_3, v.key_4) >> 1)::BIGINT"
	case s.Name == "data-layout" && column == "aggregate_value":
		return "sum(v.value) OVER (PARTITION BY v.mode, v.metric, v.descriptor, v.key_3, v.key_4)::BIGINT"
	}
	return ""
}

// high returns the condition under which source and disassembly mark values, as in the views.
func high(exclusive, inclusive string) string {
	return fmt.Sprintf("COALESCE(v.exclusive > 0 AND v.exclusive >= 0.75 * %s OR v.inclusive > 0 AND v.inclusive >= 0.75 * %s, false)", exclusive, inclusive)
}

// highestLines returns a CTE with the highest values of the lines of each source file.
func (s *sum) highestLines() string {
	return `highest AS MATERIALIZED (
  SELECT mode, metric, short, max(exclusive) AS highest, max(inclusive) AS highest_inclusive FROM (
    SELECT m.mode, s.metric, COALESCE(f.short, s.file) AS short, s.line, sum(s.exclusive) AS exclusive, sum(s.inclusive) AS inclusive
    FROM source_values s JOIN chosen USING (experiment_id, metric) JOIN modes m ON by_mode(m.mode, s.in_user, s.in_expert, s.in_machine)
    LEFT JOIN file_keys f ON f.file = s.file GROUP BY ALL
  ) GROUP BY ALL
)`
}

// rows returns SQL for all rows of the sum.
func (s *sum) rows() string {
	var columns []string
	joins := ""
	for _, c := range append(s.columnsOfSum(), s.dividedNames()...) {
		e := "v." + identifier(c)
		if r := s.recomputed(c); r != "" {
			e = r
		}
		columns = append(columns, e+" AS "+identifier(c))
	}
	if s.Measured() {
		joins += "\nLEFT JOIN totals t ON t.metric = v.metric"
	}
	if s.Name == "source" {
		joins += "\nLEFT JOIN highest h ON h.mode = v.mode AND h.metric = v.metric AND h.short = v.key_1"
	}
	if s.table {
		columns = append(columns, "v.of_experiment")
		if s.Measured() {
			columns = append(columns, "COALESCE(t.total, 0) AS total")
			for _, c := range s.totalColumns() {
				columns = append(columns, "t."+identifier(c))
			}
		}
		for i, c := range []string{"function", "other"} {
			if s.has(c + "_id") {
				label := []string{"label", "other_label"}[i]
				columns = append(columns, fmt.Sprintf("COALESCE(l%d.label, v.%s) AS %s", i, c, label))
				joins += fmt.Sprintf("\nLEFT JOIN function_labels l%[1]d ON l%[1]d.key = v.of_%[2]s", i, c)
			}
		}
		for _, c := range s.Columns {
			if !s.Measured() && (c.As == Count || c.As == Time) {
				columns = append(columns, fmt.Sprintf(`sum(v."%s") OVER ()::BIGINT AS "%s"`, c.Name, TotalOf(c.Name)))
			}
		}
	}
	window := ""
	if s.Name == "disasm" {
		window = "\nWINDOW code AS (PARTITION BY v.mode, v.metric, v.key_1)"
	}
	return "SELECT " + strings.Join(columns, ", ") + "\nFROM summed v" + joins + window
}
