-- row: one recorded stack in one mode, with the normalised stack it became
-- rules: S25
--
-- experiment_id = raw_stacks.experiment_id
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- raw_stack_id = raw_stacks.raw_stack_id
-- stack_id = stacks.stack_id: The normalised stack.
-- reason = raw_stacks.reason
--
-- invariant stacks_known: Every normalised stack is in `stacks`.
--   SELECT * FROM mode_stacks ANTI JOIN stacks USING (experiment_id, stack_id)
-- invariant depths: A stack has as many frames as its depth says, numbered from 0.
--   SELECT k.experiment_id, k.stack_id, k.depth, count(f.position)
--   FROM stacks k LEFT JOIN frames f USING (experiment_id, stack_id)
--   GROUP BY ALL
--   HAVING count(f.position) <> k.depth OR count(DISTINCT f.position) <> k.depth OR max(f.position) <> k.depth - 1
-- invariant raw_frames_known: Every recorded frame has a known location, except for markers, the highest four addresses.
--   SELECT * FROM raw_frames WHERE (location_id IS NULL) <> (word BETWEEN -4 AND -1)
--   UNION ALL
--   SELECT r.* FROM raw_frames r ANTI JOIN locations l USING (experiment_id, location_id) WHERE r.location_id IS NOT NULL
-- invariant frames_known: Every frame's instruction and function are known.
--   SELECT f.* FROM frames f ANTI JOIN locations l USING (experiment_id, location_id)
--   UNION ALL
--   SELECT f.* FROM frames f ANTI JOIN functions g USING (experiment_id, function_id)
SELECT r.experiment_id, m.mode, r.raw_stack_id,
  CASE m.mode WHEN 'user' THEN r.user_stack_id WHEN 'expert' THEN r.expert_stack_id ELSE r.machine_stack_id END AS stack_id,
  r.reason
FROM raw_stacks r CROSS JOIN modes m
