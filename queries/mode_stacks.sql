-- row: one recorded stack in one mode, with its normalized stack
-- rules: S25
--
-- experiment_id = recorded_stacks.experiment_id
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- raw_stack_id = recorded_stacks.raw_stack_id
-- stack_id BIGINT: Hash of the normalized stack's frames.
-- reason = recorded_stacks.reason
-- stack = recorded_stacks.stack
-- node = stack_tree.node: The node of the stack's leaf; 0 (the root) if the stack is empty.
WITH identified AS (
  SELECT r.*, i.user_stack_id, i.expert_stack_id, i.machine_stack_id FROM recorded_stacks_wide r JOIN node_stacks i USING (experiment_id, node)
)
SELECT r.experiment_id, m.mode, r.raw_stack_id,
  by_mode(m.mode, r.user_stack_id, r.expert_stack_id, r.machine_stack_id) AS stack_id,
  r.reason, r.stack,
  r.node - by_mode(m.mode, r.user_up, r.expert_up, r.machine_up) AS node
FROM identified r CROSS JOIN modes m
