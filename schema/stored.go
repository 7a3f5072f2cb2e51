package schema

import "fmt"

// Value is the SQL of the value that a row t of the table's files has in a column.
func (t *Table) Value(c Column) string {
	if t == Locations && c.Name == "instruction" {
		return `t."offset" + t.instruction`
	}
	switch {
	case c.Name == "other_no":
		return "t.function_no + t.other_no"
	case c.Name == "modes" && t.StandsForOthers():
		return fmt.Sprintf("t.modes & %d", ShownModes)
	}
	return `t."` + c.Name + `"`
}

// Rows stand for others that would have the same values, which the files leave out: bits of
// their column `modes` from this one on say for which. Each is for the modes of its row.
const (
	ForCallee     = 1 << (6 + iota) // of a caller's row in call_values: that of its callee
	ForSource                       // of line_values: that of the line in source_values, which no other function has code of
	ForModule                       // of function_values: that of its module, which has no other function
	ForPC                           // likewise that of its location, the only one
	ForSelf                         // likewise that of itself in call_values
	ForLine                         // likewise that of its line, if all its code is on one
	ForLineSource                   // likewise that line's row stands for that of source_values

	// ShownModes are the other bits, which views have.
	ShownModes = ForCallee - 1
)

// plainModes are the bits of modes in which modules and instructions have values.
const plainModes = 7

// ModeBits returns the bits that the column `modes` of a table's files may have.
func (t *Table) ModeBits() int64 {
	switch t {
	case FunctionValues:
		return ShownModes | ForModule | ForPC | ForSelf | ForLine | ForLineSource
	case CallValues:
		return ShownModes | ForCallee
	case LineValues:
		return ShownModes | ForSource
	case PCValues, ModuleValues, ObjectValues:
		return plainModes
	}
	return ShownModes
}

// StandsForOthers reports whether rows of a table stand for others.
func (t *Table) StandsForOthers() bool { return t.Has("modes") && t.ModeBits() > ShownModes }

// standing is the SQL of a condition for rows t that stand for others.
func standing(bit int) string { return fmt.Sprintf("t.modes & %d <> 0", bit) }

// impliedByFunction is the SQL of the rows that those of function_values stand for, of
// things that another table has one of with the function's number.
func impliedByFunction(table, column string, bit int) string {
	return fmt.Sprintf("SELECT t.experiment_id, t.modes & %d AS modes, t.metric, o.%s, t.exclusive, t.inclusive FROM function_values_rows() t JOIN %s_rows() o USING (experiment_id, function_no) WHERE %s AND t.modes & %[1]d <> 0",
		plainModes, column, table, standing(bit))
}

// impliedNodes is the SQL of the rows of tree_values that those of function_values stand for,
// of nodes that are alone in some of their modes.
const impliedNodes = `SELECT t.experiment_id, t.modes & o.alone AS modes, t.metric, o.call_node, t.inclusive AS attributed, t.exclusive
FROM function_values_rows() t JOIN call_nodes_rows() o USING (experiment_id, function_no) WHERE t.modes & o.alone <> 0`

// impliedCalls is the SQL of the rows of call_values that others stand for: those of callers
// for callees, and those of functions for themselves and, with a node that is alone, for its
// caller and for it as callee.
var impliedCalls = fmt.Sprintf(`SELECT t.experiment_id, t.modes & %[1]d AS modes, t.metric, t.function_no + t.other_no AS function_no, 'callee' AS relation, -t.other_no AS other_no, t.attributed
FROM call_values_stored_rows() t WHERE %[2]s
UNION ALL
SELECT t.experiment_id, t.modes & %[1]d, t.metric, t.function_no, 'self', 0, t.exclusive
FROM function_values_rows() t WHERE %[3]s
UNION ALL
SELECT t.experiment_id, t.modes & o.alone, t.metric, IF(r.relation = 'caller', o.function_no, p.function_no), r.relation,
  IF(r.relation = 'caller', p.function_no - o.function_no, o.function_no - p.function_no), t.inclusive
FROM function_values_rows() t JOIN call_nodes_rows() o USING (experiment_id, function_no)
JOIN call_nodes_rows() p ON p.experiment_id = o.experiment_id AND p.call_node = o.call_node - o.up
CROSS JOIN (VALUES ('caller'), ('callee')) r(relation) WHERE t.modes & o.alone <> 0`, ShownModes, standing(ForCallee), standing(ForSelf))

// impliedLines is likewise of line_values.
var impliedLines = fmt.Sprintf(`SELECT t.experiment_id, t.modes & %[1]d | IF(%[2]s, %[3]d, 0) AS modes, t.metric, t.function_no, o.file, o.line, t.exclusive, t.inclusive
FROM function_values_rows() t JOIN (
  SELECT experiment_id, function_no, any_value(file) AS file, any_value(line) AS line FROM (
    SELECT experiment_id, function_no, file, line FROM locations_rows() UNION ALL SELECT experiment_id, function_no, file, line FROM inline_frames_rows()
  ) GROUP BY ALL
) o USING (experiment_id, function_no) WHERE %[4]s`, ShownModes, standing(ForLineSource), ForSource, standing(ForLine))

// impliedSources is likewise of source_values.
var impliedSources = fmt.Sprintf("SELECT t.experiment_id, t.modes & %d AS modes, t.metric, t.file, t.line, t.exclusive, t.inclusive FROM line_values_rows() t WHERE %s", ShownModes, standing(ForSource))
