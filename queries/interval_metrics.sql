-- row: one interval of all threads, of the given width: `FROM interval_metrics(20_000_000)`
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
-- value BIGINT: [the metric's] The sum over the interval's samples.
SELECT experiment_id, experiment, mode, metric, unit, t0_ns, t1_ns, sum(value)::BIGINT AS value
FROM timeline_by(width_ns)
GROUP BY ALL
