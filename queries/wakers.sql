-- row: one pair of a function that waited and a function that woke it up, in user mode, with the names of their threads
-- rules: S33
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- function = functions.name: The function that waited.
-- thread_name = thread_names.thread_name: The name of the thread that waited.
-- waker_function VARCHAR: The function that woke the thread up: the leaf of the stack that was recorded at the wake-up. `<Interrupt>` if an interrupt did, of a timer for example: what was on the CPU then is no cause.
-- waker_thread_name = thread_names.thread_name: The name of the thread that woke it up; missing if an interrupt did.
-- waits BIGINT: [count] The number of waits that ended in this way.
-- wait_ns BIGINT: [ns] The sum of these waits.
--
-- invariant wakeups: The wake-up that ends a wait is a sample during the wait or at its end.
--   SELECT w.* FROM wait_samples w JOIN samples s USING (experiment_id, sample) JOIN samples k ON k.experiment_id = w.experiment_id AND k.sample = w.waker_sample
--   WHERE k.time_ns NOT BETWEEN s.time_ns - w.duration_ns AND s.time_ns
-- invariant woken: The wake-up names the thread that waited, unless perf ran in a process namespace, whose threads have other ids.
--   SELECT w.* FROM wait_samples w JOIN samples s USING (experiment_id, sample)
--   JOIN perf_samples p ON p.experiment_id = w.experiment_id AND p.sample = w.waker_sample
--   JOIN event_formats f ON f.experiment_id = p.experiment_id AND f.event = p.event AND f.field = 'pid'
--   JOIN event_fields v ON v.experiment_id = p.experiment_id AND v.sample = p.sample AND v.position = f.position
--   WHERE v.number <> s.thread_id AND NOT EXISTS (FROM problems q WHERE q.experiment_id = w.experiment_id AND q.reason = 'other-namespace')
WITH
interrupts AS ( -- wake-ups in a hardware interrupt: bit 3 of common_flags (TRACE_FLAG_HARDIRQ)
  SELECT p.experiment_id, p.sample FROM perf_samples p
  JOIN event_formats f ON f.experiment_id = p.experiment_id AND f.event = p.event AND f.field = 'common_flags' AND f.system = 'sched'
  JOIN event_fields v ON v.experiment_id = p.experiment_id AND v.sample = p.sample AND v.position = f.position
  WHERE v.number & 8 <> 0
),
levels AS (
  SELECT *, unnest([depth - 1, depth]) AS level FROM mode_nodes WHERE mode = 'user'
),
called AS (
  SELECT *, max(CASE WHEN level = depth THEN node END) OVER (PARTITION BY experiment_id, level ORDER BY node ROWS UNBOUNDED PRECEDING) AS parent
  FROM levels
),
woken AS (
  SELECT w.experiment_id, w.duration_ns, s.stack, s.thread_name, k.stack AS waker_stack, i.sample IS NOT NULL AS by_interrupt,
    CASE WHEN i.sample IS NULL THEN k.thread_name END AS waker_thread_name
  FROM wait_samples w
  JOIN samples_wide s USING (experiment_id, sample)
  JOIN samples_wide k ON k.experiment_id = w.experiment_id AND k.sample = w.waker_sample
  LEFT JOIN interrupts i ON i.experiment_id = w.experiment_id AND i.sample = w.waker_sample
  WHERE w.state IN (4, 5)
),
leaves AS (
  SELECT k.experiment_id, k.stack, f.name AS function FROM mode_stacks k
  JOIN mode_nodes n USING (experiment_id, mode, node)
  JOIN locations_wide l USING (experiment_id, location)
  JOIN functions f USING (experiment_id, function_id)
  WHERE mode = 'user'
),
waiting AS (
  SELECT k.experiment_id, k.stack, f.name AS function FROM mode_stacks k
  JOIN called c ON c.experiment_id = k.experiment_id AND c.node = k.node AND c.level < c.depth
  JOIN mode_nodes n ON n.experiment_id = c.experiment_id AND n.mode = 'user' AND n.node = c.parent
  JOIN locations_wide l ON l.experiment_id = n.experiment_id AND l.location = n.location
  JOIN functions f ON f.experiment_id = l.experiment_id AND f.function_id = l.function_id
  WHERE k.mode = 'user'
)
SELECT w.experiment_id, e.experiment, f.function, w.thread_name, CASE WHEN by_interrupt THEN '<Interrupt>' ELSE k.function END AS waker_function, w.waker_thread_name, count(*) AS waits, sum(w.duration_ns)::BIGINT AS wait_ns
FROM woken w
LEFT JOIN experiment_names e USING (experiment_id)
LEFT JOIN waiting f ON f.experiment_id = w.experiment_id AND f.stack = w.stack
LEFT JOIN leaves k ON k.experiment_id = w.experiment_id AND k.stack = w.waker_stack
GROUP BY ALL
