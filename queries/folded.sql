-- row: one distinct stack of functions, as programs that draw flame graphs read it
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- stack VARCHAR: The functions' names from the root to the leaf with `;` between them, a colon in place of a semicolon in a name; `<Total>` for samples without a stack.
-- value = stack_values.value
-- samples = stack_values.samples
WITH names AS MATERIALIZED (
  SELECT experiment_id, function_id, replace(name, ';', ':') AS name FROM functions
),
-- Paths of the same names have the same key, in both trees: a sum over their frames,
-- of those before the node in the order of numbers but for subtrees that ended before.
located AS MATERIALIZED (
  SELECT l.experiment_id, l.location, n.name FROM locations l JOIN names n USING (experiment_id, function_id)
),
shown AS MATERIALIZED (
  SELECT n.experiment_id, n.mode, n.node, n.last, hash(n.depth, l.name)::HUGEINT AS h FROM mode_nodes n JOIN located l USING (experiment_id, location)
),
steps AS (
  SELECT experiment_id, mode, node, h FROM shown
  UNION ALL
  SELECT experiment_id, mode, last + 1, -h FROM shown
),
sums AS MATERIALIZED (
  SELECT experiment_id, mode, node, sum(h) OVER (PARTITION BY experiment_id, mode ORDER BY node) AS key
  FROM (SELECT experiment_id, mode, node, sum(h) AS h FROM steps GROUP BY ALL)
),
valued AS MATERIALIZED (
  SELECT v.experiment_id, v.mode, v.metric, CASE WHEN v.node = 0 THEN 0 ELSE k.key END AS key, sum(v.value)::BIGINT AS value, sum(v.samples)::BIGINT AS samples
  FROM leaf_values v LEFT JOIN sums k USING (experiment_id, mode, node)
  GROUP BY ALL
),
called AS MATERIALIZED (
  SELECT c.experiment_id, c.call_node, c.parent, c.depth, c.last, n.name, CASE WHEN c.depth > 0 THEN hash(c.depth, n.name)::HUGEINT ELSE 0 END AS h
  FROM call_nodes c JOIN names n USING (experiment_id, function_id)
),
call_steps AS (
  SELECT experiment_id, call_node, h FROM called
  UNION ALL
  SELECT experiment_id, last + 1, -h FROM called
),
call_keys AS MATERIALIZED (
  SELECT experiment_id, call_node, sum(h) OVER (PARTITION BY experiment_id ORDER BY call_node) AS key
  FROM (SELECT experiment_id, call_node, sum(h) AS h FROM call_steps GROUP BY ALL)
),
texts AS MATERIALIZED (
  WITH RECURSIVE texts AS (
    SELECT experiment_id, call_node, depth, name AS stack FROM called WHERE depth <= 1
    UNION ALL
    SELECT c.experiment_id, c.call_node, c.depth, t.stack || ';' || c.name
    FROM texts t JOIN called c ON c.experiment_id = t.experiment_id AND c.parent = t.call_node WHERE t.depth > 0
  )
  SELECT k.experiment_id, k.key, min(t.stack) AS stack FROM call_keys k JOIN texts t USING (experiment_id, call_node) GROUP BY ALL
)
SELECT v.experiment_id, n.experiment, v.mode, v.metric, m.unit, t.stack, v.value, v.samples
FROM valued v
LEFT JOIN texts t USING (experiment_id, key)
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics m USING (experiment_id, metric)
