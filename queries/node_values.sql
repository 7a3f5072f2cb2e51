-- row: one metric's value of the stacks that contain one node of the tree of stacks; it is the same in all modes
--
-- experiment_id = stack_tree.experiment_id
-- metric = metrics.metric
-- node = stack_tree.node
-- value BIGINT: [the metric's] The value of the samples whose stack contains the node; for node 0 (the root), of all samples.
WITH own AS (
  SELECT r.experiment_id, v.metric, r.node, sum(v.value)::BIGINT AS value
  FROM recorded_stacks r JOIN stack_values v USING (experiment_id, stack)
  GROUP BY ALL
),
pairs AS (SELECT DISTINCT experiment_id, metric FROM stack_values),
nodes AS (
  SELECT t.experiment_id, p.metric, t.node, t.below FROM stack_tree t JOIN pairs p USING (experiment_id)
)
SELECT experiment_id, metric, node, value
FROM (
  SELECT n.experiment_id, n.metric, n.node, (sum(o.value) OVER inside)::BIGINT AS value
  FROM nodes n LEFT JOIN own o USING (experiment_id, metric, node)
  WINDOW inside AS (PARTITION BY experiment_id, metric ORDER BY node ROWS BETWEEN CURRENT ROW AND below FOLLOWING)
)
WHERE value IS NOT NULL
