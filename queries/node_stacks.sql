-- row: one node of the tree of stacks, with the identifier of its path in each mode
--
-- experiment_id = stack_tree.experiment_id
-- node = stack_tree.node
-- user_stack_id BIGINT: Hash of the frames that user mode shows on the path (their instructions and rules); it is the same in every experiment. 0 if the mode shows no frames.
-- expert_stack_id BIGINT: Hash of the frames that expert mode shows on the path, as `user_stack_id`.
-- machine_stack_id BIGINT: Hash of the frames that machine mode shows on the path, as `user_stack_id`.
WITH
-- A filter by experiment does not pass from one materialized table to another.
marked AS (
  SELECT s.experiment_id, s.frame, m.mode, by_mode(m.mode, s.user_location, s.expert_location, s.machine_location) AS location,
    by_mode(m.mode, s.user_rule, s.expert_rule, s.machine_rule) AS rule
  FROM tree_frames s CROSS JOIN modes m
),
marks AS (
  SELECT experiment_id, frame, max(mark) FILTER (mode = 'user') AS u, max(mark) FILTER (mode = 'expert') AS e, max(mark) FILTER (mode = 'machine') AS m
  FROM (
    SELECT s.experiment_id, s.frame, s.mode,
      CASE WHEN s.rule = '' THEN l.location_id ELSE path_part(l.location_id, (md5_number_lower(s.rule) >> 1)::BIGINT) END AS mark
    FROM marked s JOIN locations_wide l USING (experiment_id, location)
  ) GROUP BY ALL
),
-- As in call_paths, for each mode; most modes equal machine mode.
machine AS (
  SELECT d.*, k.u, k.e, k.m, COALESCE(path_part(k.m, d.machine_depth), 0) AS part FROM node_depths d LEFT JOIN marks k USING (experiment_id, frame)
),
parts AS (
  SELECT experiment_id, node, last, part AS m,
    CASE WHEN u IS NULL THEN 0 WHEN u = m AND user_depth = machine_depth THEN part ELSE path_part(u, user_depth) END AS u,
    CASE WHEN e IS NULL THEN 0 WHEN e = m AND expert_depth = machine_depth THEN part ELSE path_part(e, expert_depth) END AS e
  FROM machine
),
-- Each node adds its parts where its subtree begins, and subtracts them where that ends.
steps AS (
  SELECT experiment_id, unnest([{node: node, own: true, u: u, e: e, m: m}, {node: last + 1, own: false, u: -u, e: -e, m: -m}], recursive := true) FROM parts
)
SELECT experiment_id, node, user_stack_id, expert_stack_id, machine_stack_id FROM (
  SELECT experiment_id, node, own,
    (sum(u) OVER above & 9223372036854775807)::BIGINT AS user_stack_id,
    (sum(e) OVER above & 9223372036854775807)::BIGINT AS expert_stack_id,
    (sum(m) OVER above & 9223372036854775807)::BIGINT AS machine_stack_id
  FROM steps
  WINDOW above AS (PARTITION BY experiment_id ORDER BY node, own ROWS UNBOUNDED PRECEDING)
) WHERE own
