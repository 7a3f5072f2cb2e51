-- row: one distinct normalized stack: the stack that the rules made of a recorded one, in one mode or several
--
-- experiment_id = recorded_stacks.experiment_id
-- stack_id BIGINT: Hash of the stack's frames.
-- depth INTEGER: [count] The number of frames; 0 for the empty stack.
-- leaf_location_id = locations.location_id: The leaf's instruction; missing for the empty stack.
-- leaf_function_id = locations.function_id: The leaf's function.
--
-- invariant stacks_apart: Equal stacks of an experiment have the same number of frames and the same leaf.
--   SELECT s.experiment_id, s.stack_id FROM mode_stacks s LEFT JOIN mode_nodes n USING (experiment_id, mode, node)
--   GROUP BY ALL HAVING min(COALESCE(n.depth, 0)) <> max(COALESCE(n.depth, 0)) OR min(n.location) <> max(n.location)
WITH ends AS (
  SELECT k.experiment_id, k.stack_id, n.depth, n.location FROM stack_leaves k JOIN mode_nodes n USING (experiment_id, mode, node)
)
SELECT e.experiment_id, e.stack_id, e.depth, l.location_id AS leaf_location_id, l.function_id AS leaf_function_id
FROM ends e LEFT JOIN locations_wide l USING (experiment_id, location)
UNION ALL
SELECT DISTINCT experiment_id, stack_id, 0, NULL, NULL FROM mode_stacks WHERE node = 0
