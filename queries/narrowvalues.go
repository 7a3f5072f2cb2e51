package queries

import (
	"strconv"
	"strings"

	"stackmill/schema"
)

// callNodeRows and treeRows are the queries of the rows of these tables.
func (n *narrowing) callNodeRows() string {
	return "SELECT experiment_id, call_node, up, below, depth, function_no FROM " + n.table("call_nodes")
}

func (n *narrowing) treeRows() string {
	return n.byView(63, "SELECT experiment_id, @ AS modes, metric, call_node, all_# AS attributed, own_# AS exclusive FROM "+n.table("tree_values")+" WHERE ends_# > 0 OR call_node = 0")
}

// byView joins a query for each view by UNION ALL: # is its number, @ those of its modes
// that are asked for.
func (n *narrowing) byView(modes int, format string) string {
	var parts []string
	for i, v := range n.views {
		if v.modes&modes != 0 {
			parts = append(parts, strings.NewReplacer("#", strconv.Itoa(i), "@", strconv.Itoa(v.modes&modes)).Replace(format))
		}
	}
	return strings.Join(parts, "\nUNION ALL\n")
}

// nodes is the query of the nodes of the call tree with their values.
func (n *narrowing) nodes() string {
	return "SELECT t.*, c.* EXCLUDE (experiment_id, call_node) FROM " + n.table("tree_values") + " t JOIN " + n.table("call_nodes") + " c ON c.experiment_id = t.experiment_id AND c.call_node = t.call_node"
}

// things is the query of the values of things of which each function has one, in some
// modes; first says of a node whether none above it is of the same.
func (n *narrowing) things(modes int, key, first string) string {
	return `WITH nodes AS (` + n.nodes() + `),
sums AS MATERIALIZED (
  SELECT experiment_id, metric, ` + key + `, ` + n.each(", ", "sum(own_#)::BIGINT AS own_#, sum(all_#) FILTER ("+first+")::BIGINT AS all_#, sum(ends_#) AS ends_#") + `
  FROM nodes WHERE depth > 0 GROUP BY ALL
)
` + n.byView(modes, "SELECT experiment_id, @ AS modes, metric, "+key+", own_# AS exclusive, all_# AS inclusive FROM sums WHERE ends_# > 0")
}

// functionValues is things of functions, with <Total>, the root.
func (n *narrowing) functionValues() string {
	return n.things(63, "function_no", "function_first") + "\nUNION ALL\n" +
		n.byView(63, "SELECT t.experiment_id, @, t.metric, c.function_no, t.all_#, t.all_# FROM "+n.table("tree_values")+" t JOIN "+n.table("call_nodes")+" c ON c.experiment_id = t.experiment_id AND c.call_node = t.call_node WHERE t.call_node = 0")
}

func (n *narrowing) moduleValues() string { return n.things(7, "module_id", "module_first") }

func (n *narrowing) objectValues() string { return n.things(7, "load_object_id", "object_first") }

// callValues is the query of what is attributed to the neighbours of functions: to those of
// a function's leaf-most frame on a stack. So what passes a node counts for its caller, and
// for the callee that it is, less what passes the function again below: `above` is the
// nearest node of the same function above a node, `via` the node below that on the way.
func (n *narrowing) callValues() string {
	return `WITH nodes AS MATERIALIZED (SELECT experiment_id, call_node, call_node + below AS last, call_node - up AS parent, function_no, caller_no, function_first FROM ` + n.table("call_nodes") + ` WHERE depth > 0),
again AS MATERIALIZED (
  SELECT c.* FROM nodes c SEMI JOIN (FROM nodes WHERE NOT function_first) r ON r.experiment_id = c.experiment_id AND r.function_no = c.function_no
),
events AS (
  SELECT experiment_id, function_no, call_node AS place, 1 AS step, call_node FROM again
  UNION ALL
  SELECT experiment_id, function_no, last + 1, -1, NULL FROM again
),
nested AS MATERIALIZED (
  SELECT experiment_id, function_no, call_node, level FROM (
    SELECT *, sum(step) OVER (PARTITION BY experiment_id, function_no ORDER BY place, step ROWS UNBOUNDED PRECEDING) AS level FROM events
  ) WHERE call_node IS NOT NULL
),
above AS MATERIALIZED (
  SELECT m.experiment_id, m.call_node, p.call_node AS above
  FROM (FROM nested WHERE level > 1) m
  ASOF JOIN nested p ON p.experiment_id = m.experiment_id AND p.function_no = m.function_no AND p.level = m.level - 1 AND p.call_node < m.call_node
),
ways AS MATERIALIZED (
  SELECT a.experiment_id, a.call_node, a.above, k.call_node AS via
  FROM above a ASOF JOIN nodes k ON k.experiment_id = a.experiment_id AND k.parent = a.above AND k.call_node <= a.call_node
),
tree AS MATERIALIZED (FROM ` + n.table("tree_values") + ` WHERE call_node > 0),
passed AS (
  SELECT t.experiment_id, t.metric, c.caller_no, c.function_no, ` + n.each(", ", "t.ends_#, t.all_# AS caller_#, t.all_# AS callee_#") + `
  FROM tree t JOIN nodes c ON c.experiment_id = t.experiment_id AND c.call_node = t.call_node
  UNION ALL
  SELECT t.experiment_id, t.metric, c.caller_no, c.function_no, ` + n.each(", ", "0, -t.all_#, 0") + `
  FROM tree t JOIN ways w ON w.experiment_id = t.experiment_id AND w.call_node = t.call_node JOIN nodes c ON c.experiment_id = w.experiment_id AND c.call_node = w.above
  UNION ALL
  SELECT t.experiment_id, t.metric, c.caller_no, c.function_no, ` + n.each(", ", "0, 0, -t.all_#") + `
  FROM tree t JOIN ways w ON w.experiment_id = t.experiment_id AND w.call_node = t.call_node JOIN nodes c ON c.experiment_id = w.experiment_id AND c.call_node = w.via
),
pairs AS MATERIALIZED (
  SELECT experiment_id, metric, caller_no, function_no, ` + n.each(", ", "sum(ends_#) AS ends_#, sum(caller_#)::BIGINT AS caller_#, sum(callee_#)::BIGINT AS callee_#") + `
  FROM passed GROUP BY ALL
),
selves AS MATERIALIZED (
  SELECT t.experiment_id, t.metric, c.function_no, ` + n.each(", ", "sum(t.own_#)::BIGINT AS own_#") + `
  FROM tree t JOIN nodes c ON c.experiment_id = t.experiment_id AND c.call_node = t.call_node GROUP BY ALL
)
` + n.byView(63, `SELECT experiment_id, @ AS modes, metric, function_no, 'caller' AS relation, caller_no AS other_no, caller_# AS attributed FROM pairs WHERE ends_# > 0
UNION ALL
SELECT experiment_id, @, metric, caller_no, 'callee', function_no, callee_# FROM pairs WHERE ends_# > 0
UNION ALL
SELECT experiment_id, @, metric, function_no, 'self', function_no, own_# FROM selves WHERE own_# <> 0
UNION ALL
SELECT t.experiment_id, @, t.metric, c.function_no, 'self', c.function_no, t.all_#
FROM `+n.table("tree_values")+` t JOIN `+n.table("call_nodes")+` c ON c.experiment_id = t.experiment_id AND c.call_node = t.call_node WHERE t.call_node = 0`)
}

func (n *narrowing) functionRollup() string {
	return `SELECT v.experiment_id, v.metric, t.unit, v.modes, v.function_id, function_key(f.name_scope, f.function_id, o.short_path, u.short_path, f.linkage_name, f.name) AS function_key,
  f.name AS "function", o.name AS load_object, u.name AS module, f.kind, v.exclusive, v.inclusive
FROM function_values v
JOIN metrics t ON t.experiment_id = v.experiment_id AND t.metric = v.metric
JOIN functions f ON f.experiment_id = v.experiment_id AND f.function_id = v.function_id
JOIN load_objects o ON o.experiment_id = f.experiment_id AND o.load_object_id = f.load_object_id
JOIN modules u ON u.experiment_id = f.experiment_id AND u.module_id = f.module_id`
}

func (n *narrowing) functionSums() string { return summed(rowsName(schema.FunctionRollup) + "()") }
