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
--
WITH names AS MATERIALIZED (
  SELECT experiment_id, function_id, replace(name, ';', ':') AS name FROM functions
),
called AS MATERIALIZED (
  SELECT experiment_id, stack_id, position, function_id FROM frames
),
-- Stacks of the same names have the same key: texts are made once for all of them.
keyed AS MATERIALIZED (
  SELECT c.experiment_id, c.stack_id, sum(hash(c.position, n.name)) AS key
  FROM called c JOIN names n USING (experiment_id, function_id)
  GROUP BY ALL
),
chosen AS MATERIALIZED (
  SELECT experiment_id, key, min(stack_id) AS stack_id FROM keyed GROUP BY ALL
),
needed AS MATERIALIZED (
  SELECT k.experiment_id, k.key, c.position, c.function_id FROM chosen k JOIN called c USING (experiment_id, stack_id)
),
texts AS MATERIALIZED (
  SELECT d.experiment_id, d.key, string_agg(n.name, ';' ORDER BY d.position DESC) AS stack
  FROM needed d JOIN names n USING (experiment_id, function_id)
  GROUP BY ALL
),
sums AS MATERIALIZED (
  SELECT v.experiment_id, v.experiment, v.mode, v.metric, v.unit, k.key, sum(v.value)::BIGINT AS value, sum(v.samples)::BIGINT AS samples
  FROM stack_metrics v LEFT JOIN keyed k USING (experiment_id, stack_id)
  GROUP BY ALL
)
SELECT s.experiment_id, s.experiment, s.mode, s.metric, s.unit, COALESCE(t.stack, '<Total>') AS stack, s.value, s.samples
FROM sums s LEFT JOIN texts t USING (experiment_id, key)
