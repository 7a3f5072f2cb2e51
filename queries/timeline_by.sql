-- row: one interval of one thread under one of its names, of the given width: `FROM timeline_by(100_000_000)`
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
-- thread_id = samples.thread_id
-- value BIGINT: [the metric's] The sum over the interval's samples.
-- thread_name = samples.thread_name: The thread's name; missing if it was not recorded.
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  v.t0_ns, v.t0_ns + width_ns::BIGINT AS t1_ns, v.thread_id, v.value, v.thread_name
FROM (
  SELECT v.experiment_id, v.metric, s.thread_id, s.thread_name, sum(v.value)::BIGINT AS value,
    s.time_ns - ((s.time_ns % width_ns::BIGINT) + width_ns::BIGINT) % width_ns::BIGINT AS t0_ns
  FROM sample_metrics v JOIN samples_wide s USING (experiment_id, sample)
  GROUP BY ALL
) v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
