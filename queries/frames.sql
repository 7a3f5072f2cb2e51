-- row: one frame of a normalized stack
--
-- experiment_id = recorded_stacks.experiment_id
-- stack_id BIGINT: Hash of the stack's frames: `stacks.stack_id`.
-- position INTEGER: The frame's position in the stack; 0 is the leaf.
-- location_id = locations.location_id: The instruction.
-- function_id = locations.function_id: The frame's function.
-- rule = tree_frames.user_rule: The rule that inserted or changed the frame; empty for a frame as recorded.
WITH
-- The leaves below a node are numbered in a row, so two counts identify them: the leaves
-- before the node and the leaves inside.
nodes AS (
  SELECT n.experiment_id, n.mode, n.node, n.last, n.depth, n.location, n.rule, k.stack_id
  FROM mode_nodes n LEFT JOIN stack_leaves k USING (experiment_id, mode, node)
),
counted AS (
  SELECT *, count(stack_id) OVER (PARTITION BY experiment_id, mode ORDER BY node ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before,
    count(stack_id) OVER (PARTITION BY experiment_id, mode ORDER BY node RANGE BETWEEN CURRENT ROW AND last - node FOLLOWING) AS inside
  FROM nodes
),
passed AS (
  SELECT experiment_id, mode, depth, location, rule, unnest(range(before, before + inside)) AS leaf FROM counted WHERE inside > 0
),
leaves AS (
  SELECT experiment_id, mode, depth, stack_id, before AS leaf FROM counted WHERE stack_id IS NOT NULL
),
placed AS (
  SELECT k.experiment_id, k.stack_id, k.depth - p.depth AS position, p.location, p.rule
  FROM passed p JOIN leaves k USING (experiment_id, mode, leaf)
)
SELECT p.experiment_id, p.stack_id, p.position, l.location_id, l.function_id, p.rule
FROM placed p LEFT JOIN locations_wide l USING (experiment_id, location)
