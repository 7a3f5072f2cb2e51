package queries

import (
	"fmt"
	"strings"
)

// The queries of the values of instructions and lines.

func (n *narrowing) pcValues() string { return n.codeValues(7, "location") }

func (n *narrowing) lineValues() string { return n.codeValues(63, "function_no", "file", "line") }

func (n *narrowing) sourceValues() string { return n.codeValues(63, "file", "line") }

// codeNodes is the query of the nodes of the tree of stacks that stacks pass, with what each
// view shows.
func (n *narrowing) codeNodes() string {
	var shown []string
	for i, v := range n.views {
		shown = append(shown, fmt.Sprintf("f.%s AS location_%d", v.shown, i))
	}
	return `WITH ends AS MATERIALIZED (SELECT DISTINCT experiment_id, node FROM ` + n.table("ends") + `),
passed AS MATERIALIZED (
  SELECT t.experiment_id, t.node, t.last, t.frame, count(e.node) OVER (PARTITION BY t.experiment_id ORDER BY t.node ROWS BETWEEN CURRENT ROW AND t.below FOLLOWING) AS ends
  FROM stack_tree t LEFT JOIN ends e ON e.experiment_id = t.experiment_id AND e.node = t.node
)
SELECT p.experiment_id, p.node, p.last, ` + strings.Join(shown, ", ") + `
FROM passed p JOIN tree_frames f ON f.experiment_id = p.experiment_id AND f.frame = p.frame WHERE p.ends > 0`
}

// nodeSums is the query of the values of the stacks that pass these nodes.
func (n *narrowing) nodeSums() string {
	return `WITH own AS MATERIALIZED (SELECT experiment_id, node, metric, sum(value) AS value FROM ` + n.table("ends") + ` GROUP BY ALL),
metrics_of AS MATERIALIZED (SELECT DISTINCT experiment_id, metric FROM own),
nodes AS MATERIALIZED (
  SELECT n.experiment_id, m.metric, n.node, n.last FROM ` + n.table("nodes") + ` n JOIN metrics_of m ON m.experiment_id = n.experiment_id
)
SELECT experiment_id, metric, node, value FROM (
  SELECT n.experiment_id, n.metric, n.node, (sum(o.value) OVER (PARTITION BY n.experiment_id, n.metric ORDER BY n.node RANGE BETWEEN CURRENT ROW AND (n.last - n.node) FOLLOWING))::BIGINT AS value
  FROM nodes n LEFT JOIN own o ON o.experiment_id = n.experiment_id AND o.metric = n.metric AND o.node = n.node
) WHERE value IS NOT NULL`
}

// leafSums is the query of the values of the stacks that end at an instruction, by view.
func (n *narrowing) leafSums() string {
	var parts []string
	for i, v := range n.views {
		if v.inlined {
			continue // which ends where the view without inlined functions does
		}
		parts = append(parts, fmt.Sprintf(`SELECT e.experiment_id, '%s' AS shown, e.metric, n.location_%d AS location, sum(e.value) AS value
FROM %s e JOIN %s n ON n.experiment_id = e.experiment_id AND n.node = e.node - e.%s
WHERE n.location_%d IS NOT NULL GROUP BY ALL`, v.shown, i, n.table("ends"), n.table("nodes"), v.up(), i))
	}
	return strings.Join(parts, "\nUNION ALL\n")
}

// codeValues is the query of the values of things that are told apart by columns of the
// places where instructions are, in some modes: of the nodes of a thing, the first on a
// path has the values of those below it.
func (n *narrowing) codeValues(modes int, columns ...string) string {
	key := strings.Join(columns, ", ")
	same := make([]string, len(columns))
	for i, c := range columns {
		same[i] = "k." + c + " = l." + c
	}
	places := n.table("places")
	text := `WITH innermost AS MATERIALIZED (SELECT experiment_id, location, max(level) AS level FROM ` + places + ` GROUP BY ALL),
keys AS MATERIALIZED (SELECT *, row_number() OVER () AS thing FROM (SELECT DISTINCT experiment_id, ` + key + ` FROM ` + places + `)),
things AS MATERIALIZED (
  SELECT l.experiment_id, l.location, l.level, k.thing FROM ` + places + ` l JOIN keys k ON k.experiment_id = l.experiment_id AND ` + strings.Join(same, " AND ") + `
)`
	var sums []string
	for i, v := range n.views {
		if v.modes&modes == 0 {
			continue
		}
		outer, leaf := " AND t.level = 0", "JOIN things t ON t.experiment_id = e.experiment_id AND t.location = e.location AND t.level = 0"
		if v.inlined {
			outer = ""
			leaf = `JOIN innermost i ON i.experiment_id = e.experiment_id AND i.location = e.location
  JOIN things t ON t.experiment_id = e.experiment_id AND t.location = e.location AND t.level = i.level`
		}
		text += fmt.Sprintf(`,
held_%[1]d AS MATERIALIZED (
  SELECT DISTINCT n.experiment_id, n.node, n.last, t.thing FROM %[2]s n JOIN things t ON t.experiment_id = n.experiment_id AND t.location = n.location_%[1]d%[3]s
),
first_%[1]d AS MATERIALIZED (
  SELECT experiment_id, node, thing FROM (
    SELECT *, max(last) OVER (PARTITION BY experiment_id, thing ORDER BY node ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS ended FROM held_%[1]d
  ) WHERE ended IS NULL OR ended < node
),
sums_%[1]d AS (
  SELECT f.experiment_id, v.metric, f.thing, 0 AS exclusive, v.value AS inclusive FROM first_%[1]d f JOIN %[4]s v ON v.experiment_id = f.experiment_id AND v.node = f.node
  UNION ALL
  SELECT e.experiment_id, e.metric, t.thing, e.value, 0 FROM (FROM %[5]s WHERE shown = '%[6]s') e
  %[7]s
)`, i, n.table("nodes"), outer, n.table("node_sums"), n.table("leaf_sums"), v.shown, leaf)
		sums = append(sums, fmt.Sprintf("SELECT experiment_id, %d AS modes, metric, thing, sum(exclusive)::BIGINT AS exclusive, sum(inclusive)::BIGINT AS inclusive FROM sums_%d GROUP BY ALL", v.modes&modes, i))
	}
	return text + `
SELECT s.experiment_id, s.modes, s.metric, k.` + strings.Join(columns, ", k.") + `, s.exclusive, s.inclusive
FROM (` + strings.Join(sums, "\nUNION ALL\n") + `) s JOIN keys k ON k.thing = s.thing`
}
