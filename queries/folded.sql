-- row: one distinct stack of functions, in the format that flame graph tools read
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- stack VARCHAR: The functions' names from the root to the leaf, separated by `;`; a semicolon in a name becomes a colon. `<Total>` for samples without a stack.
-- value = stack_values.value
-- samples = stack_values.samples
WITH
-- Paths of equal names have the same key in both trees: a sum over their frames. Each node
-- adds its part where its subtree begins, and subtracts it where that ends.
located AS (
  SELECT l.experiment_id, l.location, replace(f.name, ';', ':') AS name FROM locations_wide l JOIN functions f USING (experiment_id, function_id)
),
steps AS (
  SELECT experiment_id, mode, unnest([node, last + 1]) AS node, unnest([true, false]) AS own, unnest([h, -h]) AS h FROM (
    SELECT n.experiment_id, n.mode, n.node, n.last, hash(n.depth, l.name)::HUGEINT AS h FROM mode_nodes n JOIN located l USING (experiment_id, location)
  )
),
sums AS (
  SELECT experiment_id, mode, node, own, sum(h) OVER (PARTITION BY experiment_id, mode ORDER BY node, own ROWS UNBOUNDED PRECEDING) AS key FROM steps
),
valued AS (
  SELECT v.experiment_id, v.mode, v.metric, CASE WHEN v.node = 0 THEN 0 ELSE k.key END AS key, sum(v.value)::BIGINT AS value, sum(v.samples)::BIGINT AS samples
  FROM leaf_values v LEFT JOIN (FROM sums WHERE own) k USING (experiment_id, mode, node)
  GROUP BY ALL
),
called AS (
  SELECT c.experiment_id, c.call_node, c.depth, c.last, c.below, replace(f.name, ';', ':') AS name,
    CASE WHEN c.depth > 0 THEN hash(c.depth, replace(f.name, ';', ':'))::HUGEINT ELSE 0 END AS h
  FROM call_nodes_wide c JOIN functions f USING (experiment_id, function_id)
),
call_steps AS (
  SELECT experiment_id, unnest([call_node, last + 1]) AS call_node, unnest([true, false]) AS own, depth, below, name, unnest([h, -h]) AS h FROM called
),
call_keys AS (
  SELECT *, sum(h) OVER (PARTITION BY experiment_id ORDER BY call_node, own ROWS UNBOUNDED PRECEDING) AS key FROM call_steps
),
-- The paths with a value below a node are numbered in a row, as in frames.
ends AS (
  SELECT c.experiment_id, c.call_node, c.depth, c.below, c.name, c.key, w.key AS ending
  FROM (FROM call_keys WHERE own) c LEFT JOIN (SELECT DISTINCT experiment_id, key FROM valued) w USING (experiment_id, key)
),
counted AS (
  SELECT *, count(ending) OVER (PARTITION BY experiment_id ORDER BY call_node ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before,
    count(ending) OVER (PARTITION BY experiment_id ORDER BY call_node ROWS BETWEEN CURRENT ROW AND below FOLLOWING) AS inside
  FROM ends
),
passed AS ( -- the root is on its own path only
  SELECT experiment_id, depth, name, key, unnest(range(before, before + CASE WHEN depth > 0 THEN inside WHEN ending IS NULL THEN 0 ELSE 1 END)) AS leaf FROM counted
),
texts AS (
  SELECT experiment_id, arg_max(key, depth) AS key, string_agg(name, ';' ORDER BY depth) AS stack FROM passed GROUP BY experiment_id, leaf
),
stacks AS (
  SELECT experiment_id, key, min(stack) AS stack FROM texts GROUP BY ALL
)
SELECT v.experiment_id, n.experiment, v.mode, v.metric, m.unit, t.stack, v.value, v.samples
FROM valued v
LEFT JOIN stacks t USING (experiment_id, key)
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics m USING (experiment_id, metric)
