-- row: one node of the call tree whose value is not the sum of its exclusive value and the values of the nodes below it; an intact store has no such node
--
-- experiment_id = tree_values.experiment_id
-- metric = tree_values.metric
-- call_node = tree_values.call_node
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- inlined BOOLEAN: Whether inlined functions are frames of their own (S10).
-- missing BIGINT: [the metric's] By how much the node's value exceeds that sum.
WITH placed AS (
  SELECT v.experiment_id, v.metric, v.call_node, v.in_user, v.in_expert, v.in_machine, v.in_user_inlined, v.in_expert_inlined, v.in_machine_inlined, v.attributed - v.exclusive AS rest FROM tree_values v
  UNION ALL
  SELECT v.experiment_id, v.metric, n.call_node - n.up, v.in_user, v.in_expert, v.in_machine, v.in_user_inlined, v.in_expert_inlined, v.in_machine_inlined, -v.attributed
  FROM tree_values v JOIN call_nodes n USING (experiment_id, call_node) WHERE n.up > 0
),
-- If nodes are even for each set of modes, they are even in each mode.
sets AS (
  SELECT experiment_id, metric, call_node, in_user, in_expert, in_machine, in_user_inlined, in_expert_inlined, in_machine_inlined, sum(rest) AS rest FROM placed GROUP BY ALL HAVING sum(rest) <> 0
)
SELECT s.experiment_id, s.metric, s.call_node, m.mode, m.inlined, sum(s.rest)::BIGINT AS missing
FROM sets s JOIN (FROM modes CROSS JOIN (VALUES (false), (true)) AS i(inlined)) m ON by_mode_and_inlined(m.mode, m.inlined, s.in_user, s.in_expert, s.in_machine, s.in_user_inlined, s.in_expert_inlined, s.in_machine_inlined)
GROUP BY s.experiment_id, s.metric, s.call_node, m.mode, m.inlined
HAVING sum(s.rest) <> 0
