-- row: one thread name, with the values of all threads while they had that name
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- thread_name = thread_names.thread_name: The name of the threads; missing for threads whose names were not recorded.
-- value = usage_values.value
-- threads BIGINT: [count] The number of threads.
-- processes BIGINT: [count] The number of processes of these threads.
--
-- invariant one_name: A thread has one name at a time.
--   SELECT * FROM (
--     SELECT *, lag(until_ns) OVER (PARTITION BY experiment_id, process, thread_id ORDER BY name_no) AS before FROM thread_names
--   ) WHERE before > from_ns OR until_ns < from_ns
-- invariant names: Every row's experiment and unit exist.
--   SELECT * FROM thread_name_metrics WHERE experiment IS NULL OR unit IS NULL
-- invariant total: The rows sum to `<Total>`.
--   SELECT experiment_id, mode, metric, sum(value) FROM (
--     SELECT experiment_id, mode, metric, value FROM thread_name_metrics
--     UNION ALL
--     SELECT experiment_id, mode, metric, -inclusive FROM function_metrics WHERE function = '<Total>' AND kind = 'artificial'
--   ) GROUP BY ALL HAVING sum(value) <> 0
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  a.thread_name, sum(v.value)::BIGINT AS value, count(DISTINCT (v.process, v.thread_id)) AS threads, count(DISTINCT v.process) AS processes
FROM usage_values v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN thread_names a USING (experiment_id, process, thread_id, name_no)
GROUP BY ALL
