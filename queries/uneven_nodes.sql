-- row: one node of the call tree whose value is not its own plus the values of the nodes below it; a right store has none
--
-- experiment_id = tree_values.experiment_id
-- metric = tree_values.metric
-- call_node = tree_values.call_node
-- bit INTEGER: The mode, with or without inlined functions: its bit in `tree_values.modes`.
-- missing BIGINT: [the metric's] How much the value is more than those.
WITH placed AS (
  SELECT v.experiment_id, v.metric, v.call_node, v.modes, v.attributed - v.exclusive AS rest FROM tree_values v
  UNION ALL
  SELECT v.experiment_id, v.metric, n.call_node - n.up, v.modes, -v.attributed
  FROM tree_values v JOIN call_nodes_numbered_rows() n USING (experiment_id, call_node) WHERE n.up > 0
),
-- What is even for each set of modes is even in each of them.
sets AS (
  SELECT experiment_id, metric, call_node, modes, sum(rest) AS rest FROM placed GROUP BY ALL HAVING sum(rest) <> 0
)
SELECT s.experiment_id, s.metric, s.call_node, m.bit, sum(s.rest)::BIGINT AS missing
FROM sets s JOIN (FROM modes UNION ALL FROM inline_modes) m ON s.modes & m.bit <> 0
GROUP BY s.experiment_id, s.metric, s.call_node, m.bit
HAVING sum(s.rest) <> 0
