-- row: one node of the tree of stacks in one mode, with the identifier that the call tree has for the functions on its path: `FROM node_paths('function')`
-- rules: S10, S19
--
-- parameter what VARCHAR: `function` or, with inlined functions as functions of their own, `inline function`.
--
-- experiment_id = stack_tree.experiment_id
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- node = stack_tree.node
-- node_id BIGINT: As in `call_paths`.
WITH shown AS (
  SELECT s.experiment_id, s.frame, s.mode, l.level, l.function_id FROM (
    SELECT f.experiment_id, f.frame, m.mode, CASE m.mode WHEN 'user' THEN f.user_shown WHEN 'expert' THEN f.expert_shown ELSE f.machine_location END AS location
    FROM tree_frames f CROSS JOIN modes m
  ) s JOIN location_levels l USING (experiment_id, location)
  WHERE l.level = 0 OR what::VARCHAR LIKE 'inline%'
),
counted AS (
  SELECT experiment_id, frame, mode, count(*) AS levels FROM shown GROUP BY ALL
),
nodes AS (
  SELECT t.experiment_id, t.mode, t.node, t.last, t.frame, COALESCE(c.levels, 0) AS levels
  FROM (FROM stack_tree CROSS JOIN modes) t LEFT JOIN counted c USING (experiment_id, frame, mode)
),
-- As in node_stacks, each node adds its levels where it begins, and takes them back where
-- it has ended; then its parts of the path likewise.
deep AS (
  SELECT * FROM (
    SELECT experiment_id, mode, node, own, levels, sum(step) OVER (PARTITION BY experiment_id, mode ORDER BY node, own ROWS UNBOUNDED PRECEDING) AS depth
    FROM (SELECT experiment_id, mode, levels, unnest([{node: node, own: true, step: levels}, {node: last + 1, own: false, step: -levels}], recursive := true) FROM nodes)
  ) WHERE own
),
parts AS (
  SELECT n.experiment_id, n.mode, n.node, n.last, COALESCE(sum(path_part(s.function_id, d.depth - d.levels + s.level + 1)), 0) AS part
  FROM nodes n JOIN deep d USING (experiment_id, mode, node) LEFT JOIN shown s USING (experiment_id, frame, mode)
  GROUP BY ALL
),
summed AS (
  SELECT * FROM (
    SELECT experiment_id, mode, node, own, sum(step) OVER (PARTITION BY experiment_id, mode ORDER BY node, own ROWS UNBOUNDED PRECEDING) AS path
    FROM (SELECT experiment_id, mode, unnest([{node: node, own: true, step: part}, {node: last + 1, own: false, step: -part}], recursive := true) FROM parts)
  ) WHERE own
)
SELECT p.experiment_id, p.mode, p.node, ((p.path + path_part(r.function_id, 0)) & 9223372036854775807)::BIGINT AS node_id
FROM summed p JOIN (FROM call_nodes WHERE call_node = 0) r USING (experiment_id)
