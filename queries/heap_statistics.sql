-- row: one process that allocated memory: its peak, and its allocations and leaks
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- process = samples.process
-- pid = processes.pid
-- target = processes.target
-- peak_bytes BIGINT: [bytes] The highest number of bytes allocated at one time; frees of blocks allocated before the recording do not count. Missing if a filter has removed the call that frees a block.
-- peak_ns BIGINT: [ns] When the peak was first reached, since the start of the first process; missing if `peak_bytes` is.
-- allocations BIGINT: [count] The number of allocations.
-- allocated_bytes BIGINT: [bytes] The sum of the sizes of all allocations.
-- smallest_bytes BIGINT: [bytes] The smallest allocation.
-- largest_bytes BIGINT: [bytes] The largest allocation.
-- leaks BIGINT: [count] The number of allocations that were never freed, or only in part.
-- leaked_bytes BIGINT: [bytes] The bytes that were never freed.
-- smallest_leak BIGINT: [bytes] The smallest leak; missing if there is none.
-- largest_leak BIGINT: [bytes] The largest leak; missing if there is none.
--
-- invariant total: The allocations and leaks sum to `<Total>`.
--   SELECT experiment_id, metric, sum(value) FROM (
--     SELECT experiment_id, unnest([
--       {metric: 'heapalloccnt', value: allocations}, {metric: 'heapallocbytes', value: allocated_bytes},
--       {metric: 'heapleakcnt', value: leaks}, {metric: 'heapleakbytes', value: leaked_bytes}], recursive := true) FROM heap_statistics
--     UNION ALL
--     SELECT experiment_id, metric, -inclusive FROM function_metrics
--     WHERE mode = 'user' AND (experiment_id, metric) IN (SELECT experiment_id, metric FROM metrics WHERE kind = 'heap') AND function = '<Total>' AND kind = 'artificial'
--   ) GROUP BY ALL HAVING sum(value) <> 0
-- invariant peak: The peak is at least the bytes never freed, and at most the bytes of all allocations.
--   SELECT * FROM heap_statistics WHERE peak_bytes < leaked_bytes OR peak_bytes > allocated_bytes
WITH sizes AS (
  SELECT *, sum(CASE WHEN allocates THEN size ELSE 0 END - freed) OVER (PARTITION BY experiment_id, process ORDER BY time_ns, sample) AS live
  FROM heap_calls
),
-- Processes with blocks whose free is missing, or with frees whose block is missing.
cut AS (
  SELECT experiment_id, process FROM heap_calls GROUP BY ALL HAVING sum(CASE WHEN allocates THEN size - leaked ELSE 0 END) <> sum(freed)
  UNION
  SELECT experiment_id, process FROM heap_blocks WHERE fate = 'unknown' AND size > 0 AND operation <> 'mmap'
),
sums AS (
  SELECT experiment_id, experiment, process, max(live)::BIGINT AS peak_bytes, arg_min(time_ns, (-live, time_ns, sample)) AS peak_ns,
    count(*) FILTER (allocates) AS allocations, COALESCE(sum(size) FILTER (allocates), 0)::BIGINT AS allocated_bytes,
    min(size) FILTER (allocates) AS smallest_bytes, max(size) FILTER (allocates) AS largest_bytes,
    count(*) FILTER (leaked <> 0) AS leaks, sum(leaked)::BIGINT AS leaked_bytes,
    min(leaked) FILTER (leaked <> 0) AS smallest_leak, max(leaked) FILTER (leaked <> 0) AS largest_leak
  FROM sizes GROUP BY experiment_id, experiment, process
)
SELECT s.experiment_id, s.experiment, s.process, p.pid, p.target,
  CASE WHEN c.process IS NULL THEN s.peak_bytes END AS peak_bytes, CASE WHEN c.process IS NULL THEN s.peak_ns END AS peak_ns,
  s.allocations, s.allocated_bytes, s.smallest_bytes, s.largest_bytes, s.leaks, s.leaked_bytes, s.smallest_leak, s.largest_leak
FROM sums s
LEFT JOIN processes p USING (experiment_id, process)
LEFT JOIN cut c ON c.experiment_id = s.experiment_id AND c.process = s.process
WHERE s.allocations > 0
