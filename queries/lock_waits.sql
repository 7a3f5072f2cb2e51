-- row: one wait for a lock of the kernel: its begin and its end, or one of both, if the other was not recorded
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- sample = samples.sample: The sample of its begin; of its end if there is no begin.
-- process = samples.process
-- thread_id = samples.thread_id
-- lock BIGINT: The lock's address.
-- flags BIGINT: What kind of lock, as the kernel says: 1 spins, 2 read, 4 write, 8 real-time, 16 per CPU, 32 mutex; missing without a begin.
-- type VARCHAR: The same as perf says it: `spinlock`, `rwsem:W`, `mutex`, ...
-- result BIGINT: 0 if the thread has the lock, else a negative error number; missing without an end.
-- t0_ns BIGINT: [ns] When it began, from the founder's start; missing without a begin.
-- duration_ns BIGINT: [ns] How long it took; missing without a begin or an end, or if records were lost meanwhile.
-- period BIGINT: [count] How many waits the row stands for: 1, unless the tracepoint was sampled (`-F`).
-- stack = samples.stack
--
-- invariant whole: A wait has a begin or an end, and no time is negative.
--   SELECT * FROM lock_waits WHERE duration_ns < 0 OR t0_ns IS NULL AND (duration_ns IS NOT NULL OR result IS NULL) OR experiment IS NULL
-- invariant ends: Each end is that of one wait.
--   SELECT experiment_id, sum(n) FROM (
--     SELECT experiment_id, 1 AS n FROM lock_waits WHERE result IS NOT NULL
--     UNION ALL
--     SELECT experiment_id, -1 FROM tracepoint_samples WHERE system = 'lock' AND tracepoint = 'contention_end'
--   ) GROUP BY ALL HAVING sum(n) <> 0
WITH
traced AS (
  SELECT *, tracepoint = 'contention_end' AS is_end FROM tracepoint_samples
  WHERE system = 'lock' AND tracepoint IN ('contention_begin', 'contention_end')
),
valued AS (
  SELECT t.*, max(f.number) FILTER (m.field = 'lock_addr') AS lock, max(f.number) FILTER (m.field = 'flags') AS flags,
    max(f.number) FILTER (m.field = 'ret') AS result, max(f.number) FILTER (m.field = 'common_pid') AS common_pid
  FROM traced t JOIN event_fields_unfiltered_rows() f USING (experiment_id, sample) JOIN event_formats m USING (experiment_id, event, position) GROUP BY ALL
),
-- Begins follow each other if a thread first spins and then sleeps. Idle tasks of all CPUs have the
-- id 0.
numbered AS (
  SELECT *, IF(common_pid = 0, cpu, 0) AS idle_cpu,
    IF(sampled, sample, count(*) FILTER (is_end) OVER (PARTITION BY experiment_id, common_pid, IF(common_pid = 0, cpu, 0), lock
      ORDER BY time_ns, sample ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS wait_no
  FROM valued
),
waits AS (
  SELECT experiment_id, lock, arg_min(flags, sample) FILTER (NOT is_end) AS flags, min(sample) FILTER (NOT is_end) AS begin_sample, min(time_ns) FILTER (NOT is_end) AS begin_ns,
    min(sample) FILTER (is_end) AS end_sample, min(time_ns) FILTER (is_end) AS end_ns, max(result) FILTER (is_end) AS result, max(period) AS period
  FROM numbered GROUP BY experiment_id, common_pid, idle_cpu, lock, wait_no
),
checked AS (
  SELECT w.*, COALESCE(w.end_ns >= w.begin_ns AND g.until_ns <= w.begin_ns, false) AS paired
  FROM waits w ASOF JOIN event_gaps g ON g.experiment_id = w.experiment_id AND g.from_ns < COALESCE(w.end_ns, w.begin_ns)
),
-- A wait that is not whole is two rows, of its begin and of its end.
halves AS (
  SELECT *, unnest(CASE WHEN paired OR end_sample IS NULL THEN [false] WHEN begin_sample IS NULL THEN [true] ELSE [false, true] END) AS is_end FROM checked
),
separate AS (
  SELECT experiment_id, IF(is_end, end_sample, begin_sample) AS sample, lock, IF(is_end, NULL, flags) AS flags, IF(is_end OR paired, result, NULL) AS result,
    IF(is_end, NULL, begin_ns) AS t0_ns, IF(paired, end_ns - begin_ns, NULL) AS duration_ns, period
  FROM halves
)
SELECT h.experiment_id, e.experiment, h.sample, s.process, s.thread_id, h.lock, h.flags,
  CASE h.flags & 63 WHEN 0 THEN 'semaphore' WHEN 1 THEN 'spinlock' WHEN 3 THEN 'rwlock:R' WHEN 5 THEN 'rwlock:W' WHEN 2 THEN 'rwsem:R' WHEN 4 THEN 'rwsem:W'
    WHEN 8 THEN 'rt-mutex' WHEN 10 THEN 'rwlock-rt:R' WHEN 12 THEN 'rwlock-rt:W' WHEN 18 THEN 'pcpu-sem:R' WHEN 20 THEN 'pcpu-sem:W' WHEN 32 THEN 'mutex' WHEN 33 THEN 'mutex' END AS type,
  h.result, h.t0_ns, h.duration_ns, h.period, s.stack
FROM separate h
JOIN samples s USING (experiment_id, sample)
LEFT JOIN experiment_names e USING (experiment_id)
