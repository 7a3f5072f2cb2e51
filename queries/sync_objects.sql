-- row: one synchronization object for which threads of one process waited
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- process = samples.process
-- object = sync_samples.object
-- variable = sync_variables.variable: The variable at the object's address, with element and member; missing if it is not in a load object's data (on a heap or stack), or has no symbol.
-- waits BIGINT: [count] The number of waits: `syncn`.
-- wait_ns BIGINT: [ns] The duration of all waits: `sync`.
-- longest_ns = sync_samples.duration_ns: The longest wait.
-- threads BIGINT: [count] The number of threads that waited.
--
-- invariant total: The rows sum to `<Total>`.
--   SELECT experiment_id, metric, sum(value) FROM (
--     SELECT experiment_id, unnest([{metric: 'syncn', value: waits}, {metric: 'sync', value: wait_ns}], recursive := true) FROM sync_objects
--     UNION ALL
--     SELECT experiment_id, metric, -inclusive FROM function_metrics WHERE mode = 'user' AND (experiment_id, metric) IN (SELECT experiment_id, metric FROM metrics WHERE kind = 'sync') AND function = '<Total>' AND kind = 'artificial'
--   ) GROUP BY ALL HAVING sum(value) <> 0
SELECT y.experiment_id, n.experiment, s.process, y.object, any_value(v.variable) AS variable, count(*) AS waits, sum(y.metric_ns)::BIGINT AS wait_ns,
  max(y.duration_ns) AS longest_ns, count(DISTINCT s.thread_id) AS threads
FROM sync_samples y
JOIN samples s USING (experiment_id, sample)
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN sync_variables v ON v.experiment_id = y.experiment_id AND v.process = s.process AND v.object = y.object
GROUP BY y.experiment_id, n.experiment, s.process, y.object
