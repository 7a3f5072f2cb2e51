-- row: one distinct stack of functions, in the format that flame graph tools read, with inlined functions as frames of their own
-- rules: S10
-- like: folded
--
-- invariant total: The values sum to the values of all leaves, and each row has the text in `stack`.
--   SELECT experiment_id, mode, metric, sum(value), sum(ending) FROM (
--     SELECT experiment_id, mode, metric, value, 0 AS ending FROM inline_folded WHERE stack IS NOT NULL
--     UNION ALL
--     SELECT experiment_id, mode, metric, 0, value FROM leaf_values
--   ) GROUP BY ALL HAVING sum(value) <> sum(ending)
WITH
valued AS (
  SELECT v.experiment_id, v.mode, v.metric, p.node_id, sum(v.value) AS value, sum(v.samples) AS samples
  FROM leaf_values v LEFT JOIN node_paths('inline function') p USING (experiment_id, mode, node)
  GROUP BY ALL
),
called AS (
  SELECT c.experiment_id, c.call_node, c.depth, c.below, replace(f.name, ';', ':') AS name FROM call_nodes_wide c JOIN functions f USING (experiment_id, function_id)
),
-- The paths with a value below a node are numbered in a row, as in frames.
ends AS (
  SELECT c.*, p.node_id, w.node_id AS ending
  FROM called c LEFT JOIN call_paths p USING (experiment_id, call_node) LEFT JOIN (SELECT DISTINCT experiment_id, node_id FROM valued) w USING (experiment_id, node_id)
),
counted AS (
  SELECT *, count(ending) OVER (PARTITION BY experiment_id ORDER BY call_node ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before,
    count(ending) OVER (PARTITION BY experiment_id ORDER BY call_node ROWS BETWEEN CURRENT ROW AND below FOLLOWING) AS inside
  FROM ends
),
passed AS ( -- the root is on its own path only
  SELECT experiment_id, depth, node_id, name,
    unnest(range(before, before + CASE WHEN depth > 0 THEN inside WHEN ending IS NULL THEN 0 ELSE 1 END)) AS leaf
  FROM counted
),
texts AS (
  SELECT experiment_id, arg_max(node_id, depth) AS node_id, string_agg(name, ';' ORDER BY depth) AS stack FROM passed GROUP BY experiment_id, leaf
),
-- Functions with the same name count as one function.
summed AS (
  SELECT v.experiment_id, v.mode, v.metric, t.stack, sum(v.value)::BIGINT AS value, sum(v.samples)::BIGINT AS samples
  FROM valued v LEFT JOIN texts t USING (experiment_id, node_id) GROUP BY ALL
)
SELECT s.experiment_id, n.experiment, s.mode, s.metric, m.unit, s.stack, s.value, s.samples
FROM summed s
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics m USING (experiment_id, metric)
