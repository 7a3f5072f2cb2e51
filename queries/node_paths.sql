-- row: one node of the tree of stacks in one mode, with the identifier of its path in the call tree: `FROM node_paths('function')`
-- rules: S10, S19
--
-- parameter what VARCHAR: `function` or, with inlined functions as frames of their own, `inline function`.
--
-- experiment_id = stack_tree.experiment_id
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- node = stack_tree.node
-- node_id BIGINT: The identifier of the path: `call_paths.node_id`.
WITH
-- Each CTE is read once. The engine materializes those that are read twice, and a filter by
-- experiment does not pass two materialized tables in a row.
shown AS (
  SELECT s.experiment_id, s.frame, s.mode, l.level, l.function_id, l.innermost OR what::VARCHAR NOT LIKE 'inline%' AS leaf FROM (
    SELECT f.experiment_id, f.frame, m.mode, by_mode(m.mode, f.user_location, f.expert_location, f.machine_location) AS location
    FROM tree_frames f CROSS JOIN modes m
  ) s JOIN location_levels l USING (experiment_id, location)
  WHERE l.level = 0 OR what::VARCHAR LIKE 'inline%'
),
levels AS (
  SELECT t.experiment_id, t.mode, t.node, t.last, s.level, s.function_id, COALESCE(s.leaf, true) AS leaf
  FROM (FROM stack_tree_wide CROSS JOIN modes) t LEFT JOIN shown s USING (experiment_id, frame, mode)
),
-- As in node_stacks, each node adds its levels where its subtree begins, and subtracts them
-- where that ends; then the same with its parts of the path.
deep AS (
  SELECT * FROM (
    SELECT *, sum(step) OVER (PARTITION BY experiment_id, mode ORDER BY node, own, level ROWS UNBOUNDED PRECEDING) AS depth
    FROM (
      SELECT experiment_id, mode, level, function_id, leaf, last,
        unnest([{node: node, own: true, step: (level IS NOT NULL)::INTEGER}, {node: last + 1, own: false, step: -(level IS NOT NULL)::INTEGER}], recursive := true) FROM levels
    )
  ) WHERE own
),
parts AS (
  SELECT experiment_id, mode, node, last, level, leaf, COALESCE(path_part(function_id, depth::BIGINT), 0) AS part FROM deep
),
summed AS (
  SELECT experiment_id, mode, node, own, leaf, sum(step) OVER (PARTITION BY experiment_id, mode ORDER BY node, own, level ROWS UNBOUNDED PRECEDING) AS path
  FROM (SELECT experiment_id, mode, level, leaf, unnest([{node: node, own: true, step: part}, {node: last + 1, own: false, step: -part}], recursive := true) FROM parts)
)
-- A filter pushed down late does not reach a scan with a condition, such as the root's number.
SELECT p.experiment_id, p.mode, p.node, ((p.path + path_part(r.function_id, 0)) & 9223372036854775807)::BIGINT AS node_id
FROM (FROM summed WHERE own AND leaf) p JOIN (FROM call_nodes_wide JOIN (VALUES (0)) root(call_node) USING (call_node)) r USING (experiment_id)
