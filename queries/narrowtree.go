package queries

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
)

// callView is what some modes show of stacks, which is the same: bits of the columns
// `modes`, and where tree_frames has it.
type callView struct {
	modes   int
	shown   string
	inlined bool
}

// up is the column of recorded_stacks that says how far above a stack's node its leaf is.
func (v *callView) up() string {
	mode, _, _ := strings.Cut(v.shown, "_")
	return mode + "_up"
}

// shape finds the views in which the session's stacks differ, as package attribute does for
// an experiment: most recordings look the same in all modes.
func (n *narrowing) shape(ctx context.Context, conn *sql.Conn) error {
	var same [3]bool // user and expert, user and machine, expert and machine mode
	var inlined bool
	err := conn.QueryRowContext(ctx, `SELECT COALESCE(bool_and(user_location IS NOT DISTINCT FROM expert_location), true),
  COALESCE(bool_and(user_location IS NOT DISTINCT FROM machine_location), true), COALESCE(bool_and(expert_location IS NOT DISTINCT FROM machine_location), true),
  EXISTS (FROM inline_frames_numbered_rows())
FROM tree_frames`).Scan(&same[0], &same[1], &same[2], &inlined)
	if err != nil {
		return err
	}
	user := callView{modes: 1, shown: "user_location"}
	plain := []*callView{&user}
	switch {
	case same[0]:
		user.modes |= 2
	case !same[1] && same[2]:
		plain = append(plain, &callView{modes: 2 | 4, shown: "machine_location"})
	default:
		plain = append(plain, &callView{modes: 2, shown: "expert_location"})
	}
	switch {
	case same[1]:
		user.modes |= 4
	case !same[2] || same[0]:
		plain = append(plain, &callView{modes: 4, shown: "machine_location"})
	}
	for _, v := range plain {
		if !inlined {
			v.modes |= v.modes << 3
		}
		n.views = append(n.views, *v)
	}
	if inlined {
		for _, v := range plain {
			n.views = append(n.views, callView{v.modes << 3, v.shown, true})
		}
	}
	return nil
}

// each joins a text for each view, in which # is its number.
func (n *narrowing) each(separator, format string) string {
	parts := make([]string, len(n.views))
	for i := range n.views {
		parts[i] = strings.ReplaceAll(format, "#", strconv.Itoa(i))
	}
	return strings.Join(parts, separator)
}

// places is the query of the functions and lines of instructions: level 0 is an
// instruction's own, those above are inlined in it.
func (n *narrowing) places() string {
	return `SELECT l.*, f.function_id FROM (
  SELECT experiment_id, location, 0 AS level, function_no, file, CASE WHEN file = '' THEN 0 ELSE line END AS line FROM locations_numbered_rows()
  UNION ALL
  SELECT experiment_id, location, depth + 1, function_no, file, CASE WHEN file = '' THEN 0 ELSE line END FROM inline_frames_numbered_rows()
) l LEFT JOIN functions f ON f.experiment_id = l.experiment_id AND f.function_no = l.function_no`
}

// ends is the query of the values of the recorded stacks that are paths to nodes of their
// tree, with how far above the nodes their leaves are.
func (n *narrowing) ends() string {
	values := "stack_values"
	if n.filter.chooses() {
		values = n.table(values)
	}
	return `SELECT r.experiment_id, r.node, r.user_up, r.expert_up, r.machine_up, v.metric, sum(v.value)::BIGINT AS value
FROM recorded_stacks r JOIN ` + values + ` v ON v.experiment_id = r.experiment_id AND v.stack = r.stack
GROUP BY ALL`
}

// roots is the query of the identifiers of the roots of the call trees.
const roots = "SELECT experiment_id, path_part(function_id, 0) AS node_id FROM call_nodes WHERE call_node = 0"

// ending is the query of the values of stacks that end at nodes of the call tree, by view.
//
// The keys of nodes of the tree of stacks are those of the call tree, call_paths.node_id,
// which are sums over the functions of the path. A path has the frames before the node in
// the order of numbers, but for those of subtrees that ended before.
func (n *narrowing) ending() string {
	var steps, counts, parts []string
	for i, v := range n.views {
		inside := ""
		if v.inlined {
			inside = fmt.Sprintf(", l%d.inside AS inside_%d", i, i)
		}
		steps = append(steps, fmt.Sprintf("l%d.function_id AS own_%d%s", i, i, inside))
		count, part := fmt.Sprintf("(own_%d IS NOT NULL)::INTEGER", i), fmt.Sprintf("COALESCE(path_part(own_%d, depth_%d + 1), 0)", i, i)
		if v.inlined {
			count += fmt.Sprintf(" + COALESCE(len(inside_%d), 0)", i)
			part += fmt.Sprintf(" + COALESCE(list_sum(list_transform(inside_%d, lambda f, n: path_part(f, depth_%d + 1 + n)::HUGEINT)), 0)", i, i)
		}
		counts, parts = append(counts, count+fmt.Sprintf(" AS n_%d", i)), append(parts, part+fmt.Sprintf(" AS part_%d", i))
	}
	joins := ""
	for i, v := range n.views {
		joins += fmt.Sprintf("\n  LEFT JOIN called l%d ON l%d.experiment_id = f.experiment_id AND l%d.location = f.%s", i, i, i, v.shown)
	}
	before := "OVER (PARTITION BY t.experiment_id ORDER BY t.node ROWS UNBOUNDED PRECEDING)"
	return `WITH called AS MATERIALIZED (
  SELECT experiment_id, location, any_value(function_id) FILTER (level = 0) AS function_id, list(function_id ORDER BY level) FILTER (level > 0) AS inside
  FROM ` + n.table("places") + ` GROUP BY ALL
),
steps AS (
  SELECT f.experiment_id, f.frame, ` + strings.Join(steps, ", ") + `
  FROM tree_frames f` + joins + `
),
nodes AS MATERIALIZED (
  SELECT t.experiment_id, t.node, t.last, s.* EXCLUDE (experiment_id, frame), ` + strings.Join(counts, ", ") + `
  FROM stack_tree t LEFT JOIN steps s ON s.experiment_id = t.experiment_id AND s.frame = t.frame
),
counted AS (SELECT experiment_id, last + 1 AS node, ` + n.each(", ", "sum(n_#) AS n_#") + ` FROM nodes GROUP BY ALL),
deep AS (
  SELECT t.*, ` + n.each(", ", "(sum(t.n_# - COALESCE(e.n_#, 0)) "+before+" - t.n_#)::BIGINT AS depth_#") + `
  FROM nodes t LEFT JOIN counted e ON e.experiment_id = t.experiment_id AND e.node = t.node
),
parted AS MATERIALIZED (
  SELECT experiment_id, node, last, ` + strings.Join(parts, ", ") + ` FROM deep
),
ended AS (SELECT experiment_id, last + 1 AS node, ` + n.each(", ", "sum(part_#) AS part_#") + ` FROM parted GROUP BY ALL),
summed AS (
  SELECT t.experiment_id, t.node, ` + n.each(", ", "sum(t.part_# - COALESCE(e.part_#, 0)) "+before+" AS part_#") + `
  FROM parted t LEFT JOIN ended e ON e.experiment_id = t.experiment_id AND e.node = t.node
),
roots AS MATERIALIZED (` + roots + `),
keys AS MATERIALIZED (
  SELECT s.experiment_id, s.node, ` + n.each(", ", "((r.node_id + s.part_#) & 9223372036854775807)::BIGINT AS key_#") + `
  FROM summed s JOIN roots r ON r.experiment_id = s.experiment_id
),
keyed AS MATERIALIZED (
  SELECT e.experiment_id, e.metric, e.value, k.* EXCLUDE (experiment_id, node)
  FROM ` + n.table("ends") + ` e JOIN keys k ON k.experiment_id = e.experiment_id AND k.node = e.node
),
parts AS (
  ` + n.each("\n  UNION ALL\n  ", "SELECT experiment_id, metric, key_# AS node_id, # AS n, sum(value) AS value, count(*) AS ends FROM keyed GROUP BY ALL") + `
),
paths AS MATERIALIZED (SELECT experiment_id, node_id, call_node FROM ` + n.grownOr("call_paths") + `)
SELECT p.experiment_id, p.metric, c.call_node, ` + n.each(", ", "COALESCE(sum(p.value) FILTER (p.n = #), 0)::BIGINT AS own_#, COALESCE(sum(p.ends) FILTER (p.n = #), 0) AS ends_#") + `
FROM parts p JOIN paths c ON c.experiment_id = p.experiment_id AND c.node_id = p.node_id
GROUP BY ALL`
}

// callNodes is the query of the nodes of the call tree that stacks pass: with their old
// numbers, as rows of the table call_nodes, and whether a node is the outermost of its
// function, module and load object.
func (n *narrowing) callNodes() string {
	return `WITH ends AS MATERIALIZED (SELECT DISTINCT experiment_id, call_node FROM ` + n.table("ending") + `),
passed AS (
  SELECT c.experiment_id, c.call_node, c.last, c.parent, c.depth, c.function_no, c.function_id,
    count(e.call_node) OVER (PARTITION BY c.experiment_id ORDER BY c.call_node ROWS BETWEEN CURRENT ROW AND c.below FOLLOWING) AS ends
  FROM ` + n.grownOr("call_nodes") + ` c LEFT JOIN ends e ON e.experiment_id = c.experiment_id AND e.call_node = c.call_node
),
left_over AS MATERIALIZED (
  SELECT experiment_id, call_node AS old_node, parent AS old_parent, depth, function_no, function_id,
    (row_number() OVER (PARTITION BY experiment_id ORDER BY call_node) - 1)::INTEGER AS call_node,
    (count(*) OVER (PARTITION BY experiment_id ORDER BY call_node RANGE BETWEEN CURRENT ROW AND (last - call_node) FOLLOWING) - 1)::INTEGER AS below
  FROM passed WHERE ends > 0 OR depth = 0
),
placed AS MATERIALIZED (
  SELECT c.*, c.call_node - COALESCE(p.call_node, c.call_node) AS up, p.function_no AS caller_no
  FROM left_over c LEFT JOIN left_over p ON p.experiment_id = c.experiment_id AND p.old_node = c.old_parent
),
named AS MATERIALIZED (
  SELECT c.*, c.call_node + c.below AS last, f.module_id, f.load_object_id
  FROM placed c LEFT JOIN functions f ON f.experiment_id = c.experiment_id AND f.function_id = c.function_id
)
SELECT *, ` + outermost("function_no") + ` AS function_first, ` + outermost("module_id") + ` AS module_first, ` + outermost("load_object_id") + ` AS object_first
FROM named`
}

// outermost is true for nodes of the call tree of which none above has the same value in a
// column.
func outermost(column string) string {
	return "COALESCE(max(CASE WHEN depth > 0 THEN last END) OVER (PARTITION BY experiment_id, " + column +
		" ORDER BY call_node ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) < call_node, true)"
}

// treeValues is the query of the values of the nodes that are left, by metric and view. ends_# is
// how many stacks end at a node or below it: their values may add up to 0, if some are negative.
func (n *narrowing) treeValues() string {
	return `WITH pairs AS MATERIALIZED (SELECT DISTINCT experiment_id, metric FROM ` + n.table("ending") + `),
own AS MATERIALIZED (
  SELECT e.* REPLACE (c.call_node AS call_node) FROM ` + n.table("ending") + ` e
  JOIN ` + n.table("call_nodes") + ` c ON c.experiment_id = e.experiment_id AND c.old_node = e.call_node
),
nodes AS MATERIALIZED (
  SELECT c.experiment_id, p.metric, c.call_node, c.below FROM ` + n.table("call_nodes") + ` c JOIN pairs p ON p.experiment_id = c.experiment_id
),
summed AS (
  SELECT c.experiment_id, c.metric, c.call_node, ` + n.each(", ", "COALESCE(o.own_#, 0) AS own_#, COALESCE(sum(o.own_#) OVER inside, 0)::BIGINT AS all_#, COALESCE(sum(o.ends_#) OVER inside, 0) AS ends_#") + `
  FROM nodes c LEFT JOIN own o ON o.experiment_id = c.experiment_id AND o.metric = c.metric AND o.call_node = c.call_node
  WINDOW inside AS (PARTITION BY c.experiment_id, c.metric ORDER BY c.call_node ROWS BETWEEN CURRENT ROW AND c.below FOLLOWING)
)
FROM summed WHERE call_node = 0 OR ` + n.each(" OR ", "ends_# > 0") + `
UNION ALL
SELECT m.experiment_id, m.metric, c.call_node, ` + n.each(", ", "0, 0, 0") + `
FROM metrics m JOIN ` + n.table("call_nodes") + ` c ON c.experiment_id = m.experiment_id AND c.call_node = 0
ANTI JOIN pairs p ON p.experiment_id = m.experiment_id AND p.metric = m.metric`
}
