-- row: one node of the call tree: the functions on a path from `<Total>`
-- rules: S12, S18, S19, S24, S26
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- node_id BIGINT: Hash of the functions from the root to the node: the same path has the same one in every experiment.
-- parent_id BIGINT: The caller's node; missing for the root.
-- depth = call_nodes.depth
-- function_id = call_nodes.function_id
-- function = functions.name
-- attributed = tree_values.attributed: The value of the samples whose stack starts with this path.
-- exclusive = tree_values.exclusive: The value of the samples whose stack is this path.
--
-- invariant names: Every node has its experiment, unit and function.
--   SELECT * FROM call_tree WHERE experiment IS NULL OR unit IS NULL OR function IS NULL
-- invariant numbered: Nodes are numbered from 0, the root, without gaps; each lies among those below its parent, with all below itself.
--   SELECT experiment_id, count(*), min(call_node), max(call_node) FROM call_nodes GROUP BY ALL HAVING min(call_node) <> 0 OR max(call_node) <> count(*) - 1
--   UNION ALL
--   SELECT experiment_id, call_node, up, below FROM call_nodes WHERE (call_node = 0) <> (up = 0) OR (call_node = 0) <> (depth = 0) OR up < 0 OR below < 0
--   UNION ALL
--   SELECT c.experiment_id, c.call_node, c.up, c.below FROM call_nodes c LEFT JOIN call_nodes p ON p.experiment_id = c.experiment_id AND p.call_node = c.parent
--   WHERE c.up > 0 AND (p.call_node IS NULL OR c.last > p.last OR c.depth <> p.depth + 1)
-- invariant counted: A node's number of nodes below it is that of its children and of those below them.
--   SELECT experiment_id, call_node, sum(below), sum(found) FROM (
--     SELECT experiment_id, call_node, below, 0 AS found FROM call_nodes
--     UNION ALL
--     SELECT experiment_id, parent, 0, below + 1 FROM call_nodes WHERE parent IS NOT NULL
--   ) GROUP BY ALL HAVING sum(below) <> sum(found)
-- invariant apart: A node has no two children of one function; every node has a value in some mode.
--   SELECT experiment_id, parent, function_id FROM call_nodes WHERE parent IS NOT NULL GROUP BY ALL HAVING count(*) > 1
--   UNION ALL
--   SELECT c.experiment_id, c.call_node, c.function_id FROM call_nodes c ANTI JOIN tree_values v USING (experiment_id, call_node)
-- invariant one_row: A node has one row for each mode and metric.
--   SELECT experiment_id, mode, metric, node_id, count(*) FROM call_tree GROUP BY ALL HAVING count(*) > 1
-- invariant parents: Every node but the root has its parent one level above.
--   SELECT c.* FROM call_tree c
--   LEFT JOIN call_tree p ON p.experiment_id = c.experiment_id AND p.mode = c.mode AND p.metric = c.metric AND p.node_id = c.parent_id
--   WHERE (c.parent_id IS NULL) <> (c.depth = 0) OR (c.depth > 0 AND p.depth IS DISTINCT FROM c.depth - 1)
-- invariant leaves: A function's exclusive value is the sum over its nodes.
--   SELECT experiment_id, mode, metric, function_id, sum(exclusive), sum(nodes) FROM (
--     SELECT experiment_id, mode, metric, function_id, exclusive, 0 AS nodes FROM function_metrics WHERE function <> '<Total>' OR kind <> 'artificial'
--     UNION ALL
--     SELECT experiment_id, mode, metric, function_id, 0, exclusive FROM call_tree WHERE depth > 0
--   ) GROUP BY ALL HAVING sum(exclusive) <> sum(nodes)
WITH
-- A path's functions are those before the node in the order of numbers, but for those
-- of subtrees that ended before it.
parts AS MATERIALIZED (
  SELECT experiment_id, call_node, parent, last, depth, function_id, path_part(function_id, depth) AS part FROM call_nodes
),
ended AS (
  SELECT experiment_id, last + 1 AS call_node, sum(part) AS part FROM parts GROUP BY ALL
),
summed AS (
  SELECT p.*, sum(p.part - COALESCE(e.part, 0)) OVER (PARTITION BY p.experiment_id ORDER BY p.call_node ROWS UNBOUNDED PRECEDING) AS path
  FROM parts p LEFT JOIN ended e USING (experiment_id, call_node)
),
nodes AS MATERIALIZED (
  SELECT experiment_id, call_node, depth, function_id, (path & 9223372036854775807)::BIGINT AS node_id,
    CASE WHEN depth > 0 THEN ((path - part) & 9223372036854775807)::BIGINT END AS parent_id
  FROM summed
),
valued AS MATERIALIZED (
  SELECT v.experiment_id, m.mode, v.metric, v.call_node, v.attributed, v.exclusive FROM tree_values v JOIN modes m ON v.modes & m.bit <> 0
),
placed AS MATERIALIZED (
  SELECT v.*, c.node_id, c.parent_id, c.depth, c.function_id FROM valued v LEFT JOIN nodes c USING (experiment_id, call_node)
)
SELECT v.experiment_id, n.experiment, v.mode, v.metric, t.unit,
  v.node_id, v.parent_id, v.depth, v.function_id, f.name AS "function", v.attributed, v.exclusive
FROM placed v
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN functions f USING (experiment_id, function_id)
