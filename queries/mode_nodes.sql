-- row: one node of the tree of stacks, in one of the modes that show its frame
--
-- experiment_id = stack_tree.experiment_id
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- node = stack_tree.node
-- last = stack_tree.last
-- depth INTEGER: [count] How many frames the mode shows on the path from the root to the node, the node included.
-- location = locations.location: The instruction that the mode shows.
-- rule = tree_frames.user_rule: The rule that inserted or changed the frame in the mode; empty for a frame as recorded.
--
-- invariant frames_known: Every instruction that a mode shows exists, and so do its function and its load object.
--   SELECT n.* FROM mode_nodes n ANTI JOIN (
--     SELECT experiment_id, location FROM locations_wide SEMI JOIN functions USING (experiment_id, function_id) SEMI JOIN load_objects USING (experiment_id, load_object_id)
--   ) l USING (experiment_id, location)
WITH nodes AS (
  SELECT d.*, f.user_location, f.user_rule, f.expert_location, f.expert_rule, f.machine_location, f.machine_rule
  FROM node_depths d JOIN tree_frames f USING (experiment_id, frame)
),
-- This is not a union, because that would read the nodes three times and stop filters.
shown AS (
  SELECT n.experiment_id, m.mode, n.node, n.last,
    by_mode(m.mode, n.user_depth, n.expert_depth, n.machine_depth) AS depth,
    by_mode(m.mode, n.user_location, n.expert_location, n.machine_location) AS location,
    by_mode(m.mode, n.user_rule, n.expert_rule, n.machine_rule) AS rule
  FROM nodes n CROSS JOIN modes m
)
SELECT * FROM shown WHERE location IS NOT NULL
