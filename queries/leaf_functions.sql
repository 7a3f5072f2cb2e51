-- row: one recorded stack in one mode, with the function at its leaf
--
-- experiment_id = recorded_stacks.experiment_id
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- stack = recorded_stacks.stack
-- function_id = functions.function_id: The function at the leaf; missing if the stack is empty.
WITH leaves AS (
  SELECT k.experiment_id, k.mode, k.stack, n.location FROM mode_leaves k LEFT JOIN mode_nodes n USING (experiment_id, mode, node)
)
SELECT k.experiment_id, k.mode, k.stack, l.function_id FROM leaves k LEFT JOIN locations_wide l USING (experiment_id, location)
