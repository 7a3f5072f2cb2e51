-- row: one node of the call tree: the functions on a path from `<Total>`
-- rules: S12, S18, S19, S24, S26
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- node_id = tree_values.node_id
-- parent_id = tree_values.parent_id
-- depth = tree_values.depth
-- function_id = tree_values.function_id
-- function = functions.name
-- attributed = tree_values.attributed: The value of the samples whose stack starts with this path.
-- exclusive = tree_values.exclusive: The value of the samples whose stack is this path.
--
-- invariant names: Every node has its experiment, unit and function.
--   SELECT * FROM call_tree WHERE experiment IS NULL OR unit IS NULL OR function IS NULL
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
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  v.node_id, v.parent_id, v.depth, v.function_id, f.name AS "function", v.attributed, v.exclusive
FROM tree_values v
JOIN modes m ON v.modes & m.bit <> 0
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN functions f USING (experiment_id, function_id)
