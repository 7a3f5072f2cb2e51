-- row: one nonempty range of sizes of allocations or of leaks
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- what VARCHAR: What the row counts: `allocation` or `leak`.
-- size_range VARCHAR: The range's name, as in gprofng; a KB is 1,024 bytes.
-- above BIGINT: [bytes] The lower bound of the range; the sizes in it are greater.
-- upto BIGINT: [bytes] The upper bound of the range, which is part of it.
-- blocks BIGINT: [count] The number of allocations or leaks.
-- bytes BIGINT: [bytes] The sum of the sizes of the allocations; for leaks, the bytes that were never freed.
--
-- invariant each_once: Every allocation and every leak is in one range.
--   SELECT experiment_id, what, sum(n), sum(b) FROM (
--     SELECT experiment_id, what, blocks AS n, bytes AS b FROM heap_sizes
--     UNION ALL
--     SELECT experiment_id, unnest([{what: 'allocation', n: -allocations, b: -allocated_bytes}, {what: 'leak', n: -leaks, b: -leaked_bytes}], recursive := true) FROM heap_statistics
--   ) GROUP BY ALL HAVING sum(n) <> 0 OR sum(b) <> 0
WITH blocks AS (
  SELECT experiment_id, experiment, 'allocation' AS what, size AS bytes FROM heap_calls WHERE allocates
  UNION ALL
  SELECT experiment_id, experiment, 'leak', leaked FROM heap_calls WHERE leaked <> 0
)
SELECT b.experiment_id, b.experiment, b.what, r.size_range, r.above, r.upto, count(*) AS blocks, sum(b.bytes)::BIGINT AS bytes
FROM blocks b JOIN size_ranges r ON b.bytes > r.above AND b.bytes <= r.upto
GROUP BY ALL
