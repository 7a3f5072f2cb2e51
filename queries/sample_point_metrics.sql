-- row: one sample point of one process, with the sums over the time between the previous sample point and this one
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- process = samples.process
-- point = overview.point: The number of the sample point, from 1; missing for samples that belong to none, such as all samples of a recording without sample points.
-- label = overview.label
-- t0_ns = overview.t0_ns
-- t1_ns = overview.t1_ns
-- value BIGINT: [the metric's] The sum over the samples in that time.
--
-- invariant total: The rows sum to `<Total>`.
--   SELECT experiment_id, mode, metric, sum(value) FROM (
--     SELECT experiment_id, mode, metric, value FROM sample_point_metrics
--     UNION ALL
--     SELECT experiment_id, mode, metric, -inclusive FROM function_metrics WHERE function = '<Total>' AND kind = 'artificial'
--   ) GROUP BY ALL HAVING sum(value) <> 0
WITH placed AS (
  SELECT s.experiment_id, s.sample, s.process, CASE WHEN s.time_ns > o.t0_ns OR o.point = 1 AND s.time_ns = o.t0_ns THEN o.point END AS point
  FROM samples s ASOF LEFT JOIN overview o ON o.experiment_id = s.experiment_id AND o.process = s.process AND s.time_ns <= o.t1_ns
),
sums AS (
  SELECT p.experiment_id, v.metric, p.process, p.point, sum(v.value)::BIGINT AS value
  FROM sample_metrics v JOIN placed p USING (experiment_id, sample)
  GROUP BY ALL
)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit, v.process, v.point, o.label, o.t0_ns, o.t1_ns, v.value
FROM sums v
LEFT JOIN overview o ON o.experiment_id = v.experiment_id AND o.process = v.process AND o.point = v.point
CROSS JOIN modes m
LEFT JOIN experiment_names n ON n.experiment_id = v.experiment_id
LEFT JOIN metrics t ON t.experiment_id = v.experiment_id AND t.metric = v.metric
