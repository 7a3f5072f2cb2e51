-- row: one range of durations, by decades, of I/O calls, of waits, and of the lives of allocated blocks; samples of other kinds last 0 ns
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- duration_range VARCHAR: The range's name; `<Unknown>` for blocks whose end is not known.
-- above BIGINT: [ns] Durations in the range are longer; missing for `<Unknown>`.
-- upto BIGINT: [ns] Durations in the range are no longer; missing for `<Unknown>`.
-- value BIGINT: [the metric's] The sum over the samples in the range.
-- samples = stack_values.samples
--
-- invariant total: The rows sum to `<Total>`.
--   SELECT experiment_id, mode, metric, sum(value) FROM (
--     SELECT experiment_id, mode, metric, value FROM duration_metrics
--     UNION ALL
--     SELECT experiment_id, mode, metric, -inclusive FROM function_metrics WHERE function = '<Total>' AND kind = 'artificial'
--   ) GROUP BY ALL HAVING sum(value) <> 0
WITH spans AS (
  SELECT experiment_id, sample, ended_ns - allocated_ns AS ns FROM heap_blocks
  UNION ALL
  SELECT experiment_id, sample, greatest(duration_ns, 0) FROM io_samples
  UNION ALL
  SELECT experiment_id, sample, greatest(duration_ns, 0) FROM sync_samples
),
traced AS (
  SELECT v.experiment_id, v.metric, s.ns, sum(v.value)::BIGINT AS value, count(*) AS samples
  FROM spans s JOIN sample_metrics v USING (experiment_id, sample)
  WHERE v.metric IN ('sync', 'syncn', 'heapalloccnt', 'heapallocbytes', 'heapleakcnt', 'heapleakbytes', 'ioreadcnt', 'ioreadbytes', 'ioreadtime', 'iowritecnt', 'iowritebytes', 'iowritetime', 'ioothercnt', 'ioothertime', 'ioerrorcnt', 'ioerrortime')
  GROUP BY ALL
),
sums AS (
  SELECT s.experiment_id, s.metric, COALESCE(r.duration_range, '<Unknown>') AS duration_range, r.above, r.upto, sum(s.value)::BIGINT AS value, sum(s.samples)::BIGINT AS samples
  FROM traced s LEFT JOIN duration_ranges r ON s.ns > r.above AND s.ns <= r.upto
  GROUP BY ALL
  UNION ALL
  SELECT v.experiment_id, v.metric, r.duration_range, r.above, r.upto, sum(v.value)::BIGINT, sum(v.samples)::BIGINT
  FROM stack_values v JOIN metrics k USING (experiment_id, metric) JOIN duration_ranges r ON r.upto = 0
  WHERE k.kind NOT IN ('heap', 'io', 'sync')
  GROUP BY ALL
)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit, v.duration_range, v.above, v.upto, sum(v.value)::BIGINT AS value, sum(v.samples)::BIGINT AS samples
FROM sums v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
GROUP BY ALL
