-- row: one block of memory that a call allocated, and how long it lived
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- sample = samples.sample
-- process = samples.process
-- thread_id = samples.thread_id
-- operation VARCHAR: `malloc` (also calloc and the like), `realloc` or `mmap`.
-- size = heap_samples.size
-- address = heap_samples.address
-- leaked = heap_samples.leaked
-- allocated_ns = samples.time_ns: When the block was allocated.
-- fate VARCHAR: What became of the block: `freed`; `leaked`, if some of it was never freed; or `unknown`, if the call that freed it is missing, for example because a filter excludes it.
-- ended_ns BIGINT: [ns] When the block was freed; for a leaked block, when its process ended; missing if unknown.
-- stack = samples.stack
--
-- invariant each_once: Every allocation is one block.
--   SELECT experiment_id, sample, count(*) FROM (SELECT experiment_id, sample FROM heap_blocks UNION ALL SELECT experiment_id, sample FROM heap_calls WHERE allocates)
--   GROUP BY ALL HAVING count(*) <> 2
WITH touches AS (
  SELECT experiment_id, process, sample, time_ns, address, operation IN ('mmap', 'munmap') AS mapped, allocates, freed FROM heap_calls WHERE address <> 0
  UNION ALL
  SELECT experiment_id, process, sample, time_ns, old_address, false, false, freed FROM heap_calls
  WHERE operation = 'realloc' AND old_address NOT IN (0, address) AND (address <> 0 OR size = 0)
),
-- A block ends with the next call that frees its address, or that gets the same address.
lives AS (
  SELECT experiment_id, sample, allocates, lead(time_ns) OVER next AS next_ns, lead(freed) OVER next AS next_freed
  FROM touches WINDOW next AS (PARTITION BY experiment_id, process, mapped, address ORDER BY time_ns, sample)
),
blocks AS (
  SELECT c.*, l.next_ns, CASE WHEN c.leaked > 0 THEN 'leaked' WHEN l.next_freed > 0 OR c.size = 0 AND l.next_ns IS NOT NULL THEN 'freed' ELSE 'unknown' END AS fate
  FROM heap_calls c JOIN lives l ON l.experiment_id = c.experiment_id AND l.sample = c.sample AND l.allocates
  WHERE c.allocates
)
SELECT b.experiment_id, b.experiment, b.sample, b.process, b.thread_id, b.operation, b.size, b.address, b.leaked, b.time_ns AS allocated_ns, b.fate,
  CASE b.fate WHEN 'freed' THEN b.next_ns WHEN 'leaked' THEN greatest(p.started_ns + p.duration_ns, b.time_ns) END AS ended_ns, b.stack
FROM blocks b LEFT JOIN processes p ON p.experiment_id = b.experiment_id AND p.process = b.process
