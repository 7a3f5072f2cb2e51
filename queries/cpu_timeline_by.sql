-- row: one interval of one CPU, of the given width: `FROM cpu_timeline_by(100_000_000)`
--
-- parameter width_ns BIGINT: [ns] The width of the intervals.
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- t0_ns BIGINT: [ns] The interval's start, since the start of the first process.
-- t1_ns BIGINT: [ns] The end of that time (exclusive).
-- cpu = samples.cpu
-- value BIGINT: [the metric's] The sum over the interval's samples.
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  v.t0_ns, v.t0_ns + width_ns::BIGINT AS t1_ns, v.cpu, v.value
FROM (
  SELECT v.experiment_id, v.metric, s.cpu, sum(v.value)::BIGINT AS value,
    s.time_ns - ((s.time_ns % width_ns::BIGINT) + width_ns::BIGINT) % width_ns::BIGINT AS t0_ns
  FROM sample_metrics v JOIN samples s USING (experiment_id, sample)
  GROUP BY ALL
) v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
