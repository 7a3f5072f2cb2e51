-- row: one call that allocated or freed memory, with the name of its operation
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- sample = samples.sample
-- process = samples.process
-- thread_id = samples.thread_id
-- cpu = samples.cpu
-- time_ns = samples.time_ns
-- operation VARCHAR: `malloc` (also calloc and the like), `free`, `realloc`, `mmap` or `munmap`.
-- allocates BOOLEAN: Whether the call allocated memory, so that the metric `heapalloccnt` counts it.
-- size = heap_samples.size
-- address = heap_samples.address
-- old_address = heap_samples.old_address
-- leaked = heap_samples.leaked
-- freed = heap_samples.freed
-- stack = samples.stack
--
-- invariant named: Every call's sample, experiment and operation exist.
--   SELECT * FROM heap_calls WHERE process IS NULL OR experiment IS NULL OR operation IS NULL
SELECT h.experiment_id, n.experiment, h.sample, s.process, s.thread_id, s.cpu, s.time_ns,
  ['malloc', 'free', 'realloc', 'mmap', 'munmap'][h.operation + 1] AS operation,
  h.operation NOT IN (1, 4) AND h.address <> 0 AS allocates,
  h.size, h.address, h.old_address, h.leaked, h.freed, s.stack
FROM heap_samples h
JOIN samples s USING (experiment_id, sample)
LEFT JOIN experiment_names n USING (experiment_id)
