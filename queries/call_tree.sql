-- row: one node of the call tree: a function reached by one path of calls from `<Total>`
-- rules: S12, S18, S19, S24, S26
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- node_id BIGINT: Hash of the functions from the root to the node: equal paths have the same hash in every experiment.
-- parent_id BIGINT: The caller's node; missing for the root.
-- depth = call_nodes.depth
-- function_id = call_nodes.function_id
-- function = functions.name
-- attributed = tree_values.attributed: The value of the samples whose stack starts with this path.
-- exclusive = tree_values.exclusive: The value of the samples whose stack is this path.
--
-- invariant names: Every node's function exists, and so do every value's node, metric and experiment.
--   SELECT experiment_id, call_node, NULL AS metric FROM call_nodes_wide ANTI JOIN functions USING (experiment_id, function_id)
--   UNION ALL
--   SELECT experiment_id, call_node, metric FROM tree_values ANTI JOIN call_nodes_wide USING (experiment_id, call_node)
--   UNION ALL
--   SELECT experiment_id, call_node, metric FROM tree_values ANTI JOIN metrics USING (experiment_id, metric)
--   UNION ALL
--   SELECT experiment_id, call_node, metric FROM tree_values ANTI JOIN experiment_names USING (experiment_id)
-- invariant stacks_recomputed: A node's exclusive value is the value of the stacks whose functions are exactly those on the node's path.
--   SELECT experiment_id, mode, metric, node_id, sum(exclusive), sum(ending) FROM (
--     SELECT experiment_id, mode, metric, node_id, exclusive, 0 AS ending FROM call_tree
--     UNION ALL
--     SELECT experiment_id, mode, v.metric, p.node_id, 0, v.value FROM leaf_values v LEFT JOIN node_paths('function') p USING (experiment_id, mode, node)
--   ) GROUP BY ALL HAVING sum(exclusive) <> sum(ending)
-- invariant numbered: Nodes are numbered from 0 (the root) without gaps, and the numbers of a node's subtree lie within those of its parent's subtree.
--   SELECT experiment_id, count(*), min(call_node), max(call_node) FROM call_nodes_wide GROUP BY ALL HAVING min(call_node) <> 0 OR max(call_node) <> count(*) - 1
--   UNION ALL
--   SELECT experiment_id, call_node, up, below FROM call_nodes_wide WHERE (call_node = 0) <> (up = 0) OR (call_node = 0) <> (depth = 0) OR up < 0 OR below < 0
--   UNION ALL
--   SELECT c.experiment_id, c.call_node, c.up, c.below FROM call_nodes_wide c LEFT JOIN call_nodes_wide p ON p.experiment_id = c.experiment_id AND p.call_node = c.parent
--   WHERE c.up > 0 AND (p.call_node IS NULL OR c.last > p.last OR c.depth <> p.depth + 1)
-- invariant counted: A node's `below` (the number of nodes below it) is the number of its children plus the sum of their `below`.
--   SELECT experiment_id, call_node, sum(below), sum(found) FROM (
--     SELECT experiment_id, call_node, below, 0 AS found FROM call_nodes_wide
--     UNION ALL
--     SELECT experiment_id, parent, 0, below + 1 FROM call_nodes_wide WHERE parent IS NOT NULL
--   ) GROUP BY ALL HAVING sum(below) <> sum(found)
-- invariant apart: No two children of a node have the same function; every node has a value in some mode.
--   SELECT experiment_id, parent, function_id FROM call_nodes_wide WHERE parent IS NOT NULL GROUP BY ALL HAVING count(*) > 1
--   UNION ALL
--   SELECT c.experiment_id, c.call_node, c.function_id FROM call_nodes_wide c ANTI JOIN tree_values v USING (experiment_id, call_node)
-- invariant one_row: A node has one row for each mode and metric.
--   SELECT experiment_id, metric, call_node, count(*) FROM tree_values GROUP BY ALL HAVING greatest(count_if(in_user), count_if(in_expert), count_if(in_machine), count_if(in_user_inlined), count_if(in_expert_inlined), count_if(in_machine_inlined)) > 1
-- invariant parents: If a node other than the root has a value, its parent has one in the same mode and metric.
--   SELECT c.experiment_id, c.metric, c.call_node
--   FROM (SELECT v.experiment_id, v.metric, v.call_node, v.in_user, v.in_expert, v.in_machine, v.in_user_inlined, v.in_expert_inlined, v.in_machine_inlined, n.parent FROM tree_values v JOIN call_nodes_wide n USING (experiment_id, call_node) WHERE n.parent IS NOT NULL) c
--   LEFT JOIN (SELECT experiment_id, metric, call_node, bool_or(in_user) AS in_user, bool_or(in_expert) AS in_expert, bool_or(in_machine) AS in_machine, bool_or(in_user_inlined) AS in_user_inlined, bool_or(in_expert_inlined) AS in_expert_inlined, bool_or(in_machine_inlined) AS in_machine_inlined FROM tree_values GROUP BY ALL) p
--     ON p.experiment_id = c.experiment_id AND p.metric = c.metric AND p.call_node = c.parent
--   WHERE p.call_node IS NULL OR c.in_user > p.in_user OR c.in_expert > p.in_expert OR c.in_machine > p.in_machine OR c.in_user_inlined > p.in_user_inlined OR c.in_expert_inlined > p.in_expert_inlined OR c.in_machine_inlined > p.in_machine_inlined
-- invariant nodes: A node's value is its exclusive value plus the values of the nodes below it.
--   SELECT * FROM uneven_nodes
-- invariant leaves: A function's exclusive value is the sum of the exclusive values of its nodes.
--   SELECT experiment_id, metric, function_id FROM (
--     SELECT v.experiment_id, v.metric, v.function_id, v.in_user, v.in_expert, v.in_machine, v.in_user_inlined, v.in_expert_inlined, v.in_machine_inlined, v.exclusive AS rest
--     FROM function_values_wide v JOIN functions f USING (experiment_id, function_id) WHERE f.name <> '<Total>' OR f.kind <> 'artificial'
--     UNION ALL
--     SELECT v.experiment_id, v.metric, n.function_id, v.in_user, v.in_expert, v.in_machine, v.in_user_inlined, v.in_expert_inlined, v.in_machine_inlined, -v.exclusive
--     FROM tree_values v JOIN call_nodes_wide n USING (experiment_id, call_node) WHERE n.depth > 0
--   ) GROUP BY ALL
--   HAVING sum(rest) FILTER (in_user) <> 0 OR sum(rest) FILTER (in_expert) <> 0 OR sum(rest) FILTER (in_machine) <> 0
--     OR sum(rest) FILTER (in_user_inlined) <> 0 OR sum(rest) FILTER (in_expert_inlined) <> 0 OR sum(rest) FILTER (in_machine_inlined) <> 0
WITH valued AS (
  SELECT v.experiment_id, n.experiment, m.mode, v.metric, v.call_node, v.attributed, v.exclusive
  FROM tree_values v JOIN experiment_names n USING (experiment_id) JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine) -- joined first: see function_metrics
),
placed AS (
  SELECT v.*, c.node_id, c.parent_id, c.depth, c.function_id FROM valued v LEFT JOIN call_paths c USING (experiment_id, call_node)
)
SELECT v.experiment_id, v.experiment, v.mode, v.metric, t.unit,
  v.node_id, v.parent_id, v.depth, v.function_id, f.name AS "function", v.attributed, v.exclusive
FROM placed v
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN functions f USING (experiment_id, function_id)
