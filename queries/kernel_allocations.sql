-- row: one block of memory that the kernel allocated for itself (`kmalloc`, `kmem_cache_alloc`), and when it was freed
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- sample = samples.sample
-- process = samples.process
-- thread_id = samples.thread_id
-- cpu = samples.cpu
-- call_site BIGINT: The address that the allocation returned to.
-- caller = functions.name: The kernel's function there; missing if it is on no stack of the recording.
-- caller_offset BIGINT: [bytes] How far `call_site` is from its start.
-- address BIGINT: The block's address; 0 if there was no memory.
-- requested_bytes BIGINT: [bytes] How many bytes the kernel asked for.
-- allocated_bytes BIGINT: [bytes] How many it got.
-- allocated_ns = samples.time_ns: When it was allocated.
-- freed_ns BIGINT: [ns] When it was freed; missing if it was not while it was recorded, or if that is not certain because records were lost meanwhile.
-- freed_cpu INTEGER: The CPU that freed it.
-- period BIGINT: [count] How many allocations the row stands for: 1, unless the tracepoint was sampled (`-F`).
-- stack = samples.stack
--
-- invariant each_once: Each sample of an allocation is one block.
--   SELECT experiment_id, sample, count(*) FROM (
--     SELECT experiment_id, sample FROM kernel_allocations
--     UNION ALL
--     SELECT experiment_id, sample FROM tracepoint_samples
--     WHERE system = 'kmem' AND tracepoint IN ('kmalloc', 'kmalloc_node', 'kmem_cache_alloc', 'kmem_cache_alloc_node')
--   ) GROUP BY ALL HAVING count(*) <> 2
-- invariant whole: A block is freed after it was allocated, and has a size.
--   SELECT * FROM kernel_allocations WHERE freed_ns < allocated_ns OR allocated_bytes IS NULL OR requested_bytes IS NULL OR experiment IS NULL
WITH
traced AS (
  SELECT *, tracepoint IN ('kfree', 'kmem_cache_free') AS frees FROM tracepoint_samples
  WHERE system = 'kmem' AND tracepoint IN ('kmalloc', 'kmalloc_node', 'kmem_cache_alloc', 'kmem_cache_alloc_node', 'kfree', 'kmem_cache_free')
),
valued AS (
  SELECT t.*, max(f.number) FILTER (m.field = 'call_site') AS call_site, max(f.number) FILTER (m.field = 'ptr') AS address,
    max(f.number) FILTER (m.field = 'bytes_req') AS requested_bytes, max(f.number) FILTER (m.field = 'bytes_alloc') AS allocated_bytes
  FROM traced t JOIN event_fields_unfiltered_rows() f USING (experiment_id, sample) JOIN event_formats m USING (experiment_id, event, position) GROUP BY ALL
),
-- A block ends with the next call that frees its address, unless that address was allocated again
-- meanwhile.
ordered AS (
  SELECT *, IF(lead(frees) OVER place AND address <> 0 AND NOT sampled, lead(time_ns) OVER place, NULL) AS next_ns, lead(cpu) OVER place AS next_cpu
  FROM valued WINDOW place AS (PARTITION BY experiment_id, address ORDER BY time_ns, sample)
),
checked AS (
  SELECT o.*, o.next_ns IS NOT NULL AND g.until_ns <= o.time_ns AS freed
  FROM ordered o ASOF JOIN event_gaps g ON g.experiment_id = o.experiment_id AND g.from_ns < COALESCE(o.next_ns, o.time_ns)
  WHERE NOT o.frees
),
-- The first one of each experiment has no code.
kernel AS (
  SELECT experiment_id, name, address, size FROM functions WHERE kind = 'kernel'
  UNION ALL
  SELECT experiment_id, NULL, -9223372036854775807, 0 FROM experiments
),
called AS (
  SELECT c.*, IF(c.call_site <= k.address + k.size, k.name, NULL) AS caller, IF(c.call_site <= k.address + k.size, c.call_site - k.address, NULL) AS caller_offset
  FROM checked c ASOF JOIN kernel k ON k.experiment_id = c.experiment_id AND k.address < c.call_site
)
SELECT c.experiment_id, e.experiment, c.sample, c.process, c.thread_id, c.cpu, c.call_site, c.caller, c.caller_offset, c.address, c.requested_bytes, c.allocated_bytes,
  c.time_ns AS allocated_ns, IF(c.freed, c.next_ns, NULL) AS freed_ns, IF(c.freed, c.next_cpu, NULL) AS freed_cpu, c.period, c.stack
FROM called c JOIN (SELECT experiment_id, sample FROM samples) k USING (experiment_id, sample) LEFT JOIN experiment_names e USING (experiment_id)
