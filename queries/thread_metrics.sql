-- row: one thread of one process
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- thread_id = usage_values.thread_id
-- value = usage_values.value
-- process = usage_values.process
--
-- invariant names: Every row has its experiment and unit.
--   SELECT * FROM thread_metrics WHERE experiment IS NULL OR unit IS NULL
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  v.thread_id, sum(v.value)::BIGINT AS value, v.process
FROM usage_values v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
GROUP BY ALL
