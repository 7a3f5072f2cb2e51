-- row: one thread of one process, under one of its names
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- thread_id = usage_values.thread_id
-- value = usage_values.value
-- process = usage_values.process
-- thread_name = thread_names.thread_name: The thread's name; missing if it was not recorded.
--
-- invariant names: Every row's experiment and unit exist.
--   SELECT * FROM thread_metrics WHERE experiment IS NULL OR unit IS NULL
-- invariant samples_recomputed: A value of `usage_values` is the sum over the samples with the same process, thread, name of the thread, control group, CPU and second.
--   SELECT experiment_id, process, thread_id, name_no, cgroup, cpu, second, metric, sum(value), sum(found), sum(samples), sum(n) FROM (
--     SELECT experiment_id, process, thread_id, name_no, cgroup, cpu, second, metric, value, samples, 0 AS found, 0 AS n FROM usage_values
--     UNION ALL
--     SELECT experiment_id, s.process, s.thread_id, s.name_no, s.cgroup, s.cpu, (s.time_ns - (s.time_ns % 1_000_000_000 + 1_000_000_000) % 1_000_000_000) // 1_000_000_000, v.metric, 0, 0, sum(v.value), count(*)
--     FROM sample_metrics v JOIN samples s USING (experiment_id, sample) GROUP BY ALL
--   ) GROUP BY ALL HAVING sum(value) <> sum(found) OR sum(samples) <> sum(n)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  v.thread_id, sum(v.value)::BIGINT AS value, v.process, a.thread_name
FROM usage_values v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN thread_names a USING (experiment_id, process, thread_id, name_no)
GROUP BY ALL
