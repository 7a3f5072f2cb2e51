-- row: one metric's value of one caller or callee of one function, as in `call_values`, but computed from the call tree
-- rules: S19
--
-- experiment_id = call_values.experiment_id
-- metric = call_values.metric
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- inlined BOOLEAN: Whether inlined functions are frames of their own (S10).
-- function_id = call_values.function_id
-- relation = call_values.relation
-- other_id = call_values.other_id
-- attributed = call_values.attributed
WITH nodes AS (
  SELECT c.experiment_id, c.call_node, c.parent, c.last, c.function_id, p.function_id AS caller_id
  FROM call_nodes_wide c LEFT JOIN call_nodes_wide p ON p.experiment_id = c.experiment_id AND p.call_node = c.parent
),
-- The nearest node above with the same function, and that node's child on the path.
recursive_nodes AS (
  SELECT experiment_id, call_node, parent AS above, call_node AS towards FROM nodes WHERE function_id = caller_id
  UNION ALL
  SELECT a.experiment_id, a.call_node, a.above, k.call_node AS towards
  FROM (
    SELECT i.experiment_id, i.call_node, max(o.call_node) AS above
    FROM nodes i JOIN nodes o ON o.experiment_id = i.experiment_id AND o.function_id = i.function_id AND o.call_node < i.call_node AND o.last >= i.call_node
    WHERE i.function_id <> i.caller_id
    GROUP BY ALL
  ) a ASOF JOIN nodes k ON k.experiment_id = a.experiment_id AND k.parent = a.above AND k.call_node <= a.call_node
),
parts AS (
  SELECT experiment_id, call_node, function_id, 'caller' AS relation, caller_id AS other_id, 1 AS sign FROM nodes WHERE parent IS NOT NULL
  UNION ALL
  SELECT experiment_id, call_node, caller_id, 'callee', function_id, 1 FROM nodes WHERE parent IS NOT NULL
  UNION ALL
  SELECT experiment_id, call_node, function_id, 'self', function_id, 0 FROM nodes
  UNION ALL
  SELECT r.experiment_id, r.call_node, a.function_id, 'caller', a.caller_id, -1
  FROM recursive_nodes r JOIN nodes a ON a.experiment_id = r.experiment_id AND a.call_node = r.above
  UNION ALL
  SELECT r.experiment_id, r.call_node, t.caller_id, 'callee', t.function_id, -1
  FROM recursive_nodes r JOIN nodes t ON t.experiment_id = r.experiment_id AND t.call_node = r.towards
),
-- <Total> counts everything as exclusive. Rows with the same set of modes are summed once.
sets AS (
  SELECT v.experiment_id, v.metric, v.in_user, v.in_expert, v.in_machine, v.in_user_inlined, v.in_expert_inlined, v.in_machine_inlined, p.function_id, p.relation, p.other_id,
    sum(CASE WHEN p.sign <> 0 THEN p.sign * v.attributed WHEN v.call_node = 0 THEN v.attributed ELSE v.exclusive END) AS attributed
  FROM tree_values v JOIN parts p USING (experiment_id, call_node)
  GROUP BY ALL
)
SELECT s.experiment_id, s.metric, m.mode, m.inlined, s.function_id, s.relation, s.other_id, sum(s.attributed)::BIGINT AS attributed
FROM sets s JOIN (FROM modes CROSS JOIN (VALUES (false), (true)) AS i(inlined)) m ON by_mode_and_inlined(m.mode, m.inlined, s.in_user, s.in_expert, s.in_machine, s.in_user_inlined, s.in_expert_inlined, s.in_machine_inlined)
GROUP BY ALL
