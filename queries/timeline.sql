-- row: one second of one thread, under one of its names
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- t0_ns BIGINT: [ns] The second's start, since the start of the first process.
-- t1_ns BIGINT: [ns] The end of that time (exclusive).
-- thread_id = usage_values.thread_id
-- value = usage_values.value
-- thread_name = thread_names.thread_name: The thread's name; missing if it was not recorded.
--
-- invariant names: Every row's experiment and unit exist.
--   SELECT * FROM timeline WHERE experiment IS NULL OR unit IS NULL
-- invariant samples_recomputed: The values are the sums over the samples of that second, thread and name.
--   SELECT experiment_id, mode, metric, t0_ns, thread_id, thread_name, sum(value), sum(found) FROM (
--     SELECT experiment_id, mode, metric, t0_ns, thread_id, thread_name, value, 0 AS found FROM timeline
--     UNION ALL
--     SELECT experiment_id, mode, metric, t0_ns, thread_id, thread_name, 0, value FROM timeline_by(1_000_000_000)
--   ) GROUP BY ALL HAVING sum(value) <> sum(found)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  v.second * 1_000_000_000::BIGINT AS t0_ns, (v.second + 1) * 1_000_000_000::BIGINT AS t1_ns,
  v.thread_id, sum(v.value)::BIGINT AS value, a.thread_name
FROM usage_values v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN thread_names a USING (experiment_id, process, thread_id, name_no)
GROUP BY ALL
