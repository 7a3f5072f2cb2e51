-- row: one CPU
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- cpu = usage_values.cpu
-- value = usage_values.value
--
-- invariant names: Every row's experiment and unit exist.
--   SELECT * FROM cpu_metrics WHERE experiment IS NULL OR unit IS NULL
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  v.cpu, sum(v.value)::BIGINT AS value
FROM usage_values v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
GROUP BY ALL
