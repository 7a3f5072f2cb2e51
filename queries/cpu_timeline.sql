-- row: one second of one CPU
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- t0_ns BIGINT: [ns] The second's start, since the start of the first process.
-- t1_ns BIGINT: [ns] The end of that time (exclusive).
-- cpu = usage_values.cpu
-- value = usage_values.value
--
-- invariant names: Every row's experiment and unit exist.
--   SELECT * FROM cpu_timeline WHERE experiment IS NULL OR unit IS NULL
-- invariant samples_recomputed: The values are the sums over the samples of that second on that CPU.
--   SELECT experiment_id, mode, metric, t0_ns, cpu, sum(value), sum(found) FROM (
--     SELECT experiment_id, mode, metric, t0_ns, cpu, value, 0 AS found FROM cpu_timeline
--     UNION ALL
--     SELECT experiment_id, mode, metric, t0_ns, cpu, 0, value FROM cpu_timeline_by(1_000_000_000)
--   ) GROUP BY ALL HAVING sum(value) <> sum(found)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  v.second * 1_000_000_000::BIGINT AS t0_ns, (v.second + 1) * 1_000_000_000::BIGINT AS t1_ns,
  v.cpu, sum(v.value)::BIGINT AS value
FROM usage_values v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
GROUP BY ALL
