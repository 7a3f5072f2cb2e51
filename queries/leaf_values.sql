-- row: one metric's value of the stacks that end at one node of the tree of stacks in one mode
--
-- experiment_id = stack_tree.experiment_id
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- node = stack_tree.node: The node of the leaf; 0 (the root) for empty stacks.
-- location = locations.location: The leaf's instruction; missing for empty stacks.
-- value = stack_values.value
-- samples = stack_values.samples
WITH ends AS (
  SELECT s.experiment_id, s.mode, v.metric, s.node, sum(v.value)::BIGINT AS value, sum(v.samples)::BIGINT AS samples
  FROM mode_leaves s JOIN stack_values v USING (experiment_id, stack)
  GROUP BY ALL
)
-- No mode shows the root.
SELECT e.experiment_id, e.mode, e.metric, e.node, n.location, e.value, e.samples
FROM ends e LEFT JOIN node_modes n USING (experiment_id, node)
WHERE COALESCE(n.modes & by_mode(e.mode, 1, 2, 4) <> 0, e.node = 0)
