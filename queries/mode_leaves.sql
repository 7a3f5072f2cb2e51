-- row: one recorded stack in one mode, with the node where it ends
--
-- experiment_id = recorded_stacks.experiment_id
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- stack = recorded_stacks.stack
-- node = stack_tree.node: The node of the stack's leaf; 0 (the root) if the stack is empty.
-- reason = recorded_stacks.reason
--
-- invariant nodes_known: The node of every recorded stack is in the tree.
--   SELECT r.* FROM recorded_stacks r ANTI JOIN stack_tree t USING (experiment_id, node)
-- invariant leaves_shown: The mode shows the node of the leaf, and no node between it and the node where the recorded stack ends.
--   WITH paths AS (
--     SELECT r.experiment_id, m.mode, r.node - by_mode(m.mode, user_up, expert_up, machine_up) AS node, r.node AS of_all,
--       by_mode(m.mode, user_depth, expert_depth, machine_depth) AS depth
--     FROM recorded_stacks r JOIN node_depths d USING (experiment_id, node) CROSS JOIN modes m
--   )
--   SELECT p.*, n.last, n.depth FROM paths p LEFT JOIN mode_nodes n USING (experiment_id, mode, node)
--   WHERE (p.node = 0) <> (n.node IS NULL) OR COALESCE(n.depth, 0) <> p.depth OR n.last < p.of_all
SELECT r.experiment_id, m.mode, r.stack,
  r.node - by_mode(m.mode, r.user_up, r.expert_up, r.machine_up) AS node, r.reason
FROM recorded_stacks r CROSS JOIN modes m
