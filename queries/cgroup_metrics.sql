-- row: one control group
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- cgroup = usage_values.cgroup
-- value = usage_values.value
-- threads BIGINT: [count] The number of threads.
-- processes BIGINT: [count] The number of processes of these threads.
--
-- invariant names: Every row's experiment and unit exist.
--   SELECT * FROM cgroup_metrics WHERE experiment IS NULL OR unit IS NULL
-- invariant paths: A control group has a path, or a problem says that some have none.
--   SELECT DISTINCT experiment_id, cgroup FROM samples ANTI JOIN (FROM problems WHERE reason = 'unnamed-cgroup') USING (experiment_id) WHERE cgroup NOT LIKE '/%'
-- invariant total: The rows sum to `<Total>`.
--   SELECT experiment_id, mode, metric, sum(value) FROM (
--     SELECT experiment_id, mode, metric, value FROM cgroup_metrics
--     UNION ALL
--     SELECT experiment_id, mode, metric, -inclusive FROM function_metrics WHERE function = '<Total>' AND kind = 'artificial'
--   ) GROUP BY ALL HAVING sum(value) <> 0
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  v.cgroup, sum(v.value)::BIGINT AS value, count(DISTINCT (v.process, v.thread_id)) AS threads, count(DISTINCT v.process) AS processes
FROM usage_values v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
GROUP BY ALL
