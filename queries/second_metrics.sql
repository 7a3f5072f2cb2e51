-- row: one second of all threads
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- t0_ns BIGINT: [ns] The second's start, since the start of the first process.
-- t1_ns BIGINT: [ns] The end of that time (exclusive).
-- value = usage_values.value
--
-- invariant total: The rows sum to `<Total>`.
--   SELECT experiment_id, mode, metric, sum(value) FROM (
--     SELECT experiment_id, mode, metric, value FROM second_metrics
--     UNION ALL
--     SELECT experiment_id, mode, metric, -inclusive FROM function_metrics WHERE function = '<Total>' AND kind = 'artificial'
--   ) GROUP BY ALL HAVING sum(value) <> 0
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  v.second * 1_000_000_000::BIGINT AS t0_ns, (v.second + 1) * 1_000_000_000::BIGINT AS t1_ns, sum(v.value)::BIGINT AS value
FROM usage_values v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
GROUP BY ALL
