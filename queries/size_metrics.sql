-- row: one range of sizes, by powers of four, of blocks allocated and of bytes moved by I/O; samples of other kinds have the size 0
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- size_range VARCHAR: The range's name; `<Unknown>` for calls that failed without a size.
-- above BIGINT: [bytes] Sizes in the range are greater; missing for `<Unknown>`.
-- upto BIGINT: [bytes] Sizes in the range are no greater; missing for `<Unknown>`.
-- value BIGINT: [the metric's] The sum over the samples in the range.
-- samples = stack_values.samples
--
-- invariant total: The rows sum to `<Total>`.
--   SELECT experiment_id, mode, metric, sum(value) FROM (
--     SELECT experiment_id, mode, metric, value FROM size_metrics
--     UNION ALL
--     SELECT experiment_id, mode, metric, -inclusive FROM function_metrics WHERE function = '<Total>' AND kind = 'artificial'
--   ) GROUP BY ALL HAVING sum(value) <> 0
WITH spans AS (
  SELECT experiment_id, sample, size AS bytes FROM heap_samples
  UNION ALL
  SELECT experiment_id, sample, bytes FROM io_samples
),
traced AS (
  SELECT v.experiment_id, v.metric, s.bytes, sum(v.value)::BIGINT AS value, count(*) AS samples
  FROM spans s JOIN sample_metrics v USING (experiment_id, sample)
  WHERE v.metric IN ('heapalloccnt', 'heapallocbytes', 'heapleakcnt', 'heapleakbytes', 'ioreadcnt', 'ioreadbytes', 'ioreadtime', 'iowritecnt', 'iowritebytes', 'iowritetime', 'ioothercnt', 'ioothertime', 'ioerrorcnt', 'ioerrortime')
  GROUP BY ALL
),
sums AS (
  SELECT s.experiment_id, s.metric, COALESCE(r.size_range, '<Unknown>') AS size_range, r.above, r.upto, sum(s.value)::BIGINT AS value, sum(s.samples)::BIGINT AS samples
  FROM traced s LEFT JOIN byte_ranges r ON s.bytes > r.above AND s.bytes <= r.upto
  GROUP BY ALL
  UNION ALL
  SELECT v.experiment_id, v.metric, r.size_range, r.above, r.upto, sum(v.value)::BIGINT, sum(v.samples)::BIGINT
  FROM stack_values v JOIN metrics k USING (experiment_id, metric) JOIN byte_ranges r ON r.upto = 0
  WHERE k.kind NOT IN ('heap', 'io')
  GROUP BY ALL
)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit, v.size_range, v.above, v.upto, sum(v.value)::BIGINT AS value, sum(v.samples)::BIGINT AS samples
FROM sums v
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
GROUP BY ALL
