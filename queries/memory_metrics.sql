-- row: one object of a custom index of memory, computed from each access by an expression: `FROM memory_metrics(address // page_size)`
-- rules: S27
--
-- parameter object VARCHAR: An expression over an access's `experiment_id`, `sample`, `process`, `thread_id`, `cpu`, `time_ns`, `address` (of the data), `physical_address` (missing if not recorded), `page_size` and `line_size` (of the machine's cache; 64 if not recorded).
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- object VARCHAR: The expression's value; missing if it is NULL.
-- value BIGINT: [the metric's] The sum over the accesses with this object.
-- samples BIGINT: [count] The number of samples with a value other than 0.
-- threads BIGINT: [count] The number of threads that made these accesses.
WITH addresses AS (
  SELECT experiment_id, sample, data_address, physical_address FROM perf_samples WHERE data_address <> 0
  UNION ALL
  -- Small values of hardware counters are codes (formats of `hwc_samples`).
  SELECT experiment_id, sample, data_address, physical_address FROM hwc_samples WHERE data_address NOT BETWEEN 0 AND 254
),
accesses AS (
  SELECT a.experiment_id, a.sample, s.process, s.thread_id, s.cpu, s.time_ns, a.data_address AS address, a.physical_address
  FROM addresses a JOIN samples s USING (experiment_id, sample)
),
objects AS (
  SELECT experiment_id, sample, process, thread_id, (object)::VARCHAR AS found FROM (
    SELECT a.*, CASE WHEN e.page_size > 64 THEN e.page_size ELSE 4096 END AS page_size, COALESCE(e.cache_line_size, 64) AS line_size
    FROM accesses a JOIN experiments e USING (experiment_id)
  )
),
sums AS (
  SELECT o.experiment_id, v.metric, o.found, sum(v.value)::BIGINT AS value, count(*) AS samples, count(DISTINCT (o.process, o.thread_id)) AS threads
  FROM objects o JOIN sample_metrics v USING (experiment_id, sample)
  GROUP BY ALL
)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit, v.found AS object, v.value, v.samples, v.threads
FROM sums v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
