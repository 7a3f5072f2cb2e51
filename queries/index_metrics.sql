-- row: one object of a custom index, computed from each sample by an expression: `FROM index_metrics(hour(wall))`
-- rules: S20
--
-- parameter object VARCHAR: An expression over a sample's `experiment_id`, `sample`, `kind`, `process`, `pid`, `program`, `thread_id`, `thread_name`, `cgroup`, `cpu`, `time_ns`, `wall` (the time of day, UTC), `stack`, and its experiment's `host` and `cpus`.
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- object VARCHAR: The expression's value; missing if it is NULL.
-- value BIGINT: [the metric's] The sum over the samples with this object.
-- samples BIGINT: [count] The number of samples with a value other than 0.
WITH objects AS (
  SELECT experiment_id, sample, (object)::VARCHAR AS found FROM (
    SELECT s.experiment_id, s.sample, s.kind, s.process, p.pid, p.target AS program, s.thread_id, s.thread_name, s.cgroup, s.cpu, s.time_ns,
      make_timestamp(epoch_us(e.started)) + to_microseconds(s.time_ns // 1000) AS wall, s.stack, e.host, e.cpus
    FROM samples_wide s
    JOIN experiments e USING (experiment_id)
    LEFT JOIN processes p ON p.experiment_id = s.experiment_id AND p.process = s.process
  )
),
sums AS (
  SELECT o.experiment_id, v.metric, o.found, sum(v.value)::BIGINT AS value, count(*) AS samples
  FROM objects o JOIN sample_metrics v USING (experiment_id, sample)
  GROUP BY ALL
)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit, v.found AS object, v.value, v.samples
FROM sums v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
