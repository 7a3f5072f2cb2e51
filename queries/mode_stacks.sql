-- row: one recorded stack in one mode, with the normalised stack it became
-- rules: S25
--
-- experiment_id = recorded_stacks.experiment_id
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- raw_stack_id = recorded_stacks.raw_stack_id
-- stack_id BIGINT: The normalised stack: hash of its frames.
-- reason = recorded_stacks.reason
-- stack = recorded_stacks.stack
-- node = stack_tree.node: The node of its leaf; 0, the root, if the stack is empty.
WITH identified AS (
  SELECT r.*, i.user_stack_id, i.expert_stack_id, i.machine_stack_id FROM recorded_stacks r JOIN node_stacks i USING (experiment_id, node)
)
SELECT r.experiment_id, m.mode, r.raw_stack_id,
  CASE m.mode WHEN 'user' THEN r.user_stack_id WHEN 'expert' THEN r.expert_stack_id ELSE r.machine_stack_id END AS stack_id,
  r.reason, r.stack,
  r.node - CASE m.mode WHEN 'user' THEN r.user_up WHEN 'expert' THEN r.expert_up ELSE r.machine_up END AS node
FROM identified r CROSS JOIN modes m
