package queries

import (
	"fmt"
	"strings"
)

// grownOr names the call tree that a session begins with: its own if functions are hidden,
// so that there are other paths than in the store, else one of the store's views.
func (n *narrowing) grownOr(view string) string {
	if n.libraries == nil {
		return view
	}
	return n.table("grown")
}

// grown is the query of the call tree of all stacks as the session shows them, in all
// views: its nodes as rows of call_nodes, with the identifiers of call_paths.
//
// The frames of all views, one for each level of an instruction, are the nodes of one tree,
// in the order of numbers x; those of one path of functions are one node of the call tree.
// It takes the place of the first of them. The numbers of the nodes of the call tree follow
// from how many are below each: a node's is its parent's and, besides itself, those below
// the siblings that are before it. Each such sum over a path is a running sum, as in
// call_paths.
func (n *narrowing) grown() string {
	var frames []string
	for i, v := range n.views {
		level := " AND l.level = 0"
		if v.inlined {
			level = ""
		}
		frames = append(frames, fmt.Sprintf(`SELECT t.experiment_id, %d AS view, t.node, t.last, l.level, l.function_id
  FROM stack_tree t JOIN tree_frames f ON f.experiment_id = t.experiment_id AND f.frame = t.frame JOIN %s l ON l.experiment_id = f.experiment_id AND l.location = f.%s%s`, i, n.table("places"), v.shown, level))
	}
	return `WITH frames AS (
  ` + strings.Join(frames, "\n  UNION ALL\n  ") + `
),
numbered AS (
  SELECT experiment_id, level, function_id, row_number() OVER (PARTITION BY experiment_id ORDER BY view, node, level) AS x,
    count(*) OVER (PARTITION BY experiment_id, view ORDER BY node RANGE BETWEEN CURRENT ROW AND (last - node) FOLLOWING) AS inside
  FROM frames
),
spans AS MATERIALIZED (SELECT experiment_id, function_id, x, x - level + inside - 1 AS last FROM numbered),
ended AS (SELECT experiment_id, last + 1 AS x, count(*) AS n FROM spans GROUP BY ALL),
deep AS (
  SELECT s.*, (s.x - COALESCE(sum(e.n) OVER ` + runningOver("s") + `, 0))::INTEGER AS depth
  FROM spans s LEFT JOIN ended e ON e.experiment_id = s.experiment_id AND e.x = s.x
),
parted AS MATERIALIZED (SELECT *, path_part(function_id, depth) AS part FROM deep),
parts_ended AS (SELECT experiment_id, last + 1 AS x, sum(part) AS part FROM parted GROUP BY ALL),
roots AS MATERIALIZED (` + roots + `),
keyed AS (
  SELECT s.*, r.node_id + sum(s.part - COALESCE(e.part, 0)) OVER ` + runningOver("s") + ` AS path
  FROM parted s LEFT JOIN parts_ended e ON e.experiment_id = s.experiment_id AND e.x = s.x
  JOIN roots r ON r.experiment_id = s.experiment_id
),
paths AS MATERIALIZED (
  SELECT experiment_id, x, last, depth, function_id, (path & 9223372036854775807)::BIGINT AS node_id, ((path - part) & 9223372036854775807)::BIGINT AS parent_id FROM keyed
),
firsts AS (SELECT *, min(x) OVER (PARTITION BY experiment_id, node_id) = x AS is_first FROM paths),
counted AS (
  SELECT *, count(*) FILTER (is_first) OVER (PARTITION BY experiment_id ORDER BY x ROWS BETWEEN CURRENT ROW AND (last - x) FOLLOWING) AS size FROM firsts
),
nodes AS (
  SELECT experiment_id, node_id, min(x) AS x, any_value(parent_id) AS parent_id, any_value(depth) AS depth, any_value(function_id) AS function_id, sum(size)::INTEGER AS size
  FROM counted GROUP BY ALL
),
siblings AS MATERIALIZED (
  SELECT *, (1 + COALESCE(sum(size) OVER (PARTITION BY experiment_id, parent_id ORDER BY x ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0))::INTEGER AS step FROM nodes
),
steps AS MATERIALIZED (
  SELECT p.experiment_id, p.x, p.last, s.step, s.x = p.x AS is_first FROM paths p JOIN siblings s ON s.experiment_id = p.experiment_id AND s.node_id = p.node_id
),
steps_ended AS (SELECT experiment_id, last + 1 AS x, sum(step) AS step FROM steps GROUP BY ALL),
placed AS (
  SELECT s.experiment_id, s.x, s.is_first, sum(s.step - COALESCE(e.step, 0)) OVER ` + runningOver("s") + ` AS call_node
  FROM steps s LEFT JOIN steps_ended e ON e.experiment_id = s.experiment_id AND e.x = s.x
),
grown AS (
  SELECT s.experiment_id, s.node_id, p.call_node::INTEGER AS call_node, (p.call_node - s.step)::INTEGER AS parent, s.depth, s.size - 1 AS below, s.function_id
  FROM siblings s JOIN (FROM placed WHERE is_first) p ON p.experiment_id = s.experiment_id AND p.x = s.x
  UNION ALL
  SELECT r.experiment_id, r.node_id, 0, NULL, 0, COALESCE(c.below, 0), c0.function_id
  FROM roots r LEFT JOIN (SELECT experiment_id, count(*)::INTEGER AS below FROM siblings GROUP BY ALL) c ON c.experiment_id = r.experiment_id
  JOIN call_nodes c0 ON c0.experiment_id = r.experiment_id AND c0.call_node = 0
)
SELECT g.*, g.call_node + g.below AS last, f.function_no FROM grown g JOIN functions f ON f.experiment_id = g.experiment_id AND f.function_id = g.function_id`
}

// runningOver is the window of the rows of an experiment up to one, in the order of x.
func runningOver(alias string) string {
	return "(PARTITION BY " + alias + ".experiment_id ORDER BY " + alias + ".x ROWS UNBOUNDED PRECEDING)"
}
