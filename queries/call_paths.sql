-- row: one node of the call tree, with the identifiers of its path
--
-- experiment_id = call_nodes.experiment_id
-- call_node = call_nodes.call_node
-- parent = call_nodes.parent
-- depth = call_nodes.depth
-- function_id = call_nodes.function_id
-- node_id BIGINT: Hash of the functions from the root to the node: equal paths have the same hash in every experiment.
-- parent_id BIGINT: The `node_id` of the caller's node; missing for the root.
--
-- invariant apart: No two nodes have the same identifier.
--   SELECT experiment_id, node_id, count(*) FROM call_paths GROUP BY ALL HAVING count(*) > 1
-- invariant parents: The `parent_id` of every node but the root is the identifier of its parent, which is one level above.
--   SELECT c.* FROM call_paths c LEFT JOIN call_paths p ON p.experiment_id = c.experiment_id AND p.call_node = c.parent
--   WHERE (c.parent_id IS NULL) <> (c.depth = 0) OR c.depth > 0 AND (p.node_id IS DISTINCT FROM c.parent_id OR p.depth IS DISTINCT FROM c.depth - 1)
WITH
-- The path to a node has the functions of all nodes with lower numbers whose subtrees contain the
-- node.
parts AS (
  SELECT experiment_id, call_node, parent, last, depth, function_id, path_part(function_id, depth) AS part FROM call_nodes_wide
),
ended AS (
  SELECT experiment_id, last + 1 AS call_node, sum(part) AS part FROM parts GROUP BY ALL
),
summed AS (
  SELECT p.*, sum(p.part - COALESCE(e.part, 0)) OVER (PARTITION BY p.experiment_id ORDER BY p.call_node ROWS UNBOUNDED PRECEDING) AS path
  FROM parts p LEFT JOIN ended e USING (experiment_id, call_node)
)
SELECT experiment_id, call_node, parent, depth, function_id, (path & 9223372036854775807)::BIGINT AS node_id,
  CASE WHEN depth > 0 THEN ((path - part) & 9223372036854775807)::BIGINT END AS parent_id
FROM summed
