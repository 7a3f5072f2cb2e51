-- row: one node of the tree of stacks, with the identifiers of what the modes show of its path
--
-- experiment_id = stack_tree.experiment_id
-- node = stack_tree.node
-- user_stack_id BIGINT: Hash of the frames that user mode shows on the path, of their instructions and rules: the same frames have the same one in every experiment. 0 if there are none.
-- expert_stack_id BIGINT: Likewise in expert mode.
-- machine_stack_id BIGINT: Likewise in machine mode.
WITH
shown AS MATERIALIZED (
  SELECT experiment_id, frame, 'user' AS mode, user_shown AS location, user_rule AS rule FROM tree_frames
  UNION ALL
  SELECT experiment_id, frame, 'expert', expert_shown, expert_rule FROM tree_frames
  UNION ALL
  SELECT experiment_id, frame, 'machine', machine_location, machine_rule FROM tree_frames
),
marked AS MATERIALIZED (
  SELECT s.experiment_id, s.frame, s.mode,
    CASE WHEN s.rule = '' THEN l.location_id ELSE path_part(l.location_id, (md5_number_lower(s.rule) >> 1)::BIGINT) END AS mark
  FROM shown s JOIN locations l USING (experiment_id, location)
),
marks AS MATERIALIZED (
  SELECT experiment_id, frame, max(mark) FILTER (mode = 'user') AS u, max(mark) FILTER (mode = 'expert') AS e, max(mark) FILTER (mode = 'machine') AS m
  FROM marked GROUP BY ALL
),
-- As in call_paths, for each mode; most are as in machine mode.
machine AS MATERIALIZED (
  SELECT d.*, k.u, k.e, k.m, COALESCE(path_part(k.m, d.machine_depth), 0) AS part FROM node_depths d LEFT JOIN marks k USING (experiment_id, frame)
),
parts AS MATERIALIZED (
  SELECT experiment_id, node, last, part AS m,
    CASE WHEN u IS NULL THEN 0 WHEN u = m AND user_depth = machine_depth THEN part ELSE path_part(u, user_depth) END AS u,
    CASE WHEN e IS NULL THEN 0 WHEN e = m AND expert_depth = machine_depth THEN part ELSE path_part(e, expert_depth) END AS e
  FROM machine
),
ended AS (
  SELECT experiment_id, last + 1 AS node, sum(u) AS u, sum(e) AS e, sum(m) AS m FROM parts GROUP BY ALL
)
SELECT p.experiment_id, p.node,
  (sum(p.u - COALESCE(n.u, 0)) OVER above & 9223372036854775807)::BIGINT AS user_stack_id,
  (sum(p.e - COALESCE(n.e, 0)) OVER above & 9223372036854775807)::BIGINT AS expert_stack_id,
  (sum(p.m - COALESCE(n.m, 0)) OVER above & 9223372036854775807)::BIGINT AS machine_stack_id
FROM parts p LEFT JOIN ended n USING (experiment_id, node)
WINDOW above AS (PARTITION BY p.experiment_id ORDER BY p.node ROWS UNBOUNDED PRECEDING)
