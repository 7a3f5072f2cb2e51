-- row: one instruction that modes show at one node of the tree of stacks
--
-- experiment_id = stack_tree.experiment_id
-- node = stack_tree.node
-- parent = stack_tree.parent
-- last = stack_tree.last
-- location = locations.location: The instruction.
-- modes INTEGER: The modes that show it there: a sum of 1 (user), 2 (expert) and 4 (machine).
WITH shown AS MATERIALIZED (
  SELECT experiment_id, frame, location, sum(bit)::INTEGER AS modes
  FROM (
    SELECT experiment_id, frame, user_shown AS location, 1 AS bit FROM tree_frames
    UNION ALL
    SELECT experiment_id, frame, expert_shown, 2 FROM tree_frames
    UNION ALL
    SELECT experiment_id, frame, machine_location, 4 FROM tree_frames
  ) WHERE location IS NOT NULL
  GROUP BY ALL
),
-- Joins of three tables by experiment_id and another key are done in steps: the
-- optimizer takes experiment_id alone for a key and would multiply the tables.
placed AS MATERIALIZED (
  SELECT t.experiment_id, t.node, t.parent, t.last, s.location, s.modes
  FROM stack_tree t JOIN shown s USING (experiment_id, frame)
)
SELECT * FROM placed
