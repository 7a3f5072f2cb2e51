-- row: one node of the tree of stacks, with the number of frames on its path in each mode
--
-- experiment_id = stack_tree.experiment_id
-- node = stack_tree.node
-- last = stack_tree.last
-- frame = stack_tree.frame
-- user_depth INTEGER: [count] How many frames user mode shows on the path from the root to the node; 0 for the root.
-- expert_depth INTEGER: [count] How many frames expert mode shows on the path from the root to the node; 0 for the root.
-- machine_depth INTEGER: [count] How many frames machine mode shows on the path from the root to the node; 0 for the root.
--
-- invariant numbered: Nodes are numbered from 0 (the root) without gaps, and the numbers of a node's subtree lie within those of its parent's subtree.
--   SELECT experiment_id, count(*), min(node), max(node) FROM stack_tree_wide GROUP BY ALL HAVING min(node) <> 0 OR max(node) <> count(*) - 1
--   UNION ALL
--   SELECT experiment_id, node, up, below FROM stack_tree_wide WHERE (node = 0) <> (up = 0) OR up < 0 OR below < 0
--   UNION ALL
--   SELECT c.experiment_id, c.node, c.up, c.below FROM stack_tree_wide c LEFT JOIN stack_tree_wide p ON p.experiment_id = c.experiment_id AND p.node = c.parent
--   WHERE c.up > 0 AND (p.node IS NULL OR c.last > p.last)
-- invariant counted: A node's `below` (the number of nodes below it) is the number of its children plus the sum of their `below`.
--   SELECT experiment_id, node, sum(below), sum(found) FROM (
--     SELECT experiment_id, node, below, 0 AS found FROM stack_tree_wide
--     UNION ALL
--     SELECT experiment_id, parent, 0, below + 1 FROM stack_tree_wide WHERE parent IS NOT NULL
--   ) GROUP BY ALL HAVING sum(below) <> sum(found)
-- invariant frames_known: Every node's frame is in `tree_frames`, and every frame there belongs to a node. Only the root's frame and frames of hidden libraries have neither a word nor an instruction.
--   SELECT t.experiment_id, t.node, t.frame FROM stack_tree t ANTI JOIN tree_frames f USING (experiment_id, frame)
--   UNION ALL
--   SELECT f.experiment_id, NULL, f.frame FROM tree_frames f ANTI JOIN stack_tree t USING (experiment_id, frame)
--   UNION ALL
--   SELECT experiment_id, node, frame FROM stack_tree WHERE (node = 0) <> (frame = 0)
--   UNION ALL
--   SELECT experiment_id, NULL, frame FROM tree_frames
--   WHERE (frame = 0) <> (word IS NULL AND COALESCE(user_location, expert_location, machine_location) IS NULL AND 'hidden' NOT IN (user_rule, expert_rule, machine_rule))
WITH
-- The path to a node has the shown frames of all nodes with lower numbers whose subtrees contain
-- the node.
framed AS (
  SELECT t.experiment_id, t.node, t.last, t.frame, f.user_location, f.expert_location, f.machine_location
  FROM stack_tree_wide t LEFT JOIN tree_frames f USING (experiment_id, frame)
),
-- This does not read `framed`: a filter reaches a CTE with two readers, but not a second such CTE
-- that reads the first.
ended AS (
  SELECT t.experiment_id, t.last + 1 AS node, count(f.user_location) AS u, count(f.expert_location) AS e, count(f.machine_location) AS m
  FROM stack_tree_wide t LEFT JOIN tree_frames f USING (experiment_id, frame)
  GROUP BY ALL
)
SELECT f.experiment_id, f.node, f.last, f.frame,
  (count(f.user_location) OVER before - COALESCE(sum(n.u) OVER before, 0))::INTEGER AS user_depth,
  (count(f.expert_location) OVER before - COALESCE(sum(n.e) OVER before, 0))::INTEGER AS expert_depth,
  (count(f.machine_location) OVER before - COALESCE(sum(n.m) OVER before, 0))::INTEGER AS machine_depth
FROM framed f LEFT JOIN ended n USING (experiment_id, node)
WINDOW before AS (PARTITION BY experiment_id ORDER BY node ROWS UNBOUNDED PRECEDING)
