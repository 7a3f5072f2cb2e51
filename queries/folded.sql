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
-- invariant names: Every row has its experiment, unit and stack.
--   SELECT * FROM folded WHERE experiment IS NULL OR unit IS NULL OR stack IS NULL
-- invariant total: The rows sum to the value of all stacks.
--   SELECT experiment_id, mode, metric, sum(value), sum(total) FROM (
--     SELECT experiment_id, mode, metric, value, 0 AS total FROM folded
--     UNION ALL
--     SELECT experiment_id, mode, metric, 0, value FROM stack_metrics
--   ) GROUP BY ALL HAVING sum(value) <> sum(total)
WITH names AS MATERIALIZED (
  SELECT experiment_id, function_id, replace(name, ';', ':') AS name FROM functions
),
paths AS MATERIALIZED (
  SELECT f.experiment_id, f.stack_id, string_agg(n.name, ';' ORDER BY f.position DESC) AS stack
  FROM frames f JOIN names n USING (experiment_id, function_id)
  GROUP BY ALL
)
SELECT v.experiment_id, v.experiment, v.mode, v.metric, v.unit, COALESCE(p.stack, '<Total>') AS stack,
  sum(v.value)::BIGINT AS value, sum(v.samples)::BIGINT AS samples
FROM stack_metrics v LEFT JOIN paths p USING (experiment_id, stack_id)
GROUP BY ALL
