-- row: one instruction that one or more modes show at one node of the tree of stacks
--
-- experiment_id = stack_tree.experiment_id
-- node = stack_tree.node
-- parent = stack_tree.parent
-- last = stack_tree.last
-- location = locations.location: The instruction.
-- modes INTEGER: The modes that show the instruction at the node, as a sum of 1 (user), 2 (expert) and 4 (machine).
WITH
-- This is not a union, because a condition in one of its parts would keep filters from the scan.
shown AS (
  SELECT experiment_id, frame, location, sum(by_mode(mode, 1, 2, 4))::INTEGER AS modes
  FROM (
    SELECT f.experiment_id, f.frame, m.mode, by_mode(m.mode, f.user_location, f.expert_location, f.machine_location) AS location
    FROM tree_frames f CROSS JOIN modes m
  ) WHERE location IS NOT NULL
  GROUP BY ALL
),
-- Three tables are joined by experiment_id and another key in two steps: otherwise the
-- optimizer joins by experiment_id alone, which multiplies the tables.
placed AS (
  SELECT t.experiment_id, t.node, t.parent, t.last, s.location, s.modes
  FROM stack_tree_wide t JOIN shown s USING (experiment_id, frame)
)
SELECT * FROM placed
