-- row: one process
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- pid = processes.pid
-- value = usage_values.value
-- process = usage_values.process
-- target = processes.target
--
-- invariant names: Every row's experiment and unit exist.
--   SELECT * FROM process_metrics WHERE experiment IS NULL OR unit IS NULL OR pid IS NULL
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  p.pid, sum(v.value)::BIGINT AS value, v.process, p.target
FROM usage_values v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN processes p USING (experiment_id, process)
GROUP BY ALL
