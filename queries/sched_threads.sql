-- row: one thread whose context switches were recorded, with the time that it spent in each state
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- process = thread_states.process
-- thread_id = thread_states.thread_id
-- thread_name = thread_names.thread_name: The thread's latest name; missing if none was recorded.
-- on_ns BIGINT: [ns] The time that the thread was on a CPU.
-- preempted_ns BIGINT: [ns] The time that the thread could have run, but had been preempted (taken off its CPU).
-- runqueue_ns BIGINT: [ns] The time that the thread waited for a CPU after it was woken up.
-- blocked_ns BIGINT: [ns] The time that the thread was blocked: asleep until something woke it up.
-- disk_ns BIGINT: [ns] The time that the thread was in uninterruptible sleep, mostly waiting for a disk.
-- unknown_ns BIGINT: [ns] The time between the thread's first and last switch in which its state is unknown.
-- switches BIGINT: [count] How often the thread was switched out.
-- migrations BIGINT: [count] How often the thread continued on another CPU than before, as far as CPUs were recorded.
-- longest_runqueue_ns BIGINT: [ns] The longest time that the thread waited for a CPU after a wake-up; missing if it never waited.
--
-- invariant adjoining: The intervals of a thread neither overlap nor leave gaps until the thread ends.
--   SELECT * FROM (
--     SELECT *, lag(t1_ns) OVER life AS before, lag(border) OVER life AS border_before
--     FROM thread_states WINDOW life AS (PARTITION BY experiment_id, process IS NULL, thread_id ORDER BY t0_ns)
--   ) WHERE before > t0_ns OR before < t0_ns AND border_before <> 'exit' OR t1_ns <= t0_ns
-- invariant one_per_cpu: At most one thread is on a CPU at a time.
--   SELECT * FROM (
--     SELECT *, lag(t1_ns) OVER (PARTITION BY experiment_id, cpu ORDER BY t0_ns) AS before FROM thread_states WHERE state = 'on' AND cpu IS NOT NULL
--   ) WHERE before > t0_ns
-- invariant waits: The waits in `thread_states` and the samples in `wait_samples`, except those of time on a CPU, sum to the same times by thread and state.
--   SELECT experiment_id, thread_id, state, sum(ns) FROM (
--     SELECT experiment_id, thread_id, state, t1_ns - t0_ns AS ns FROM thread_states WHERE wait_sample IS NOT NULL
--     UNION ALL
--     SELECT w.experiment_id, s.thread_id, wait_state(w.state), -w.duration_ns FROM wait_samples w JOIN samples s USING (experiment_id, sample) SEMI JOIN thread_states t USING (experiment_id) WHERE w.state <> 1
--   ) GROUP BY ALL HAVING sum(ns) <> 0
-- invariant whole: A process's value of the metric `wall` is the sum of the times of its threads in known states.
--   SELECT experiment_id, process, sum(ns) FROM (
--     SELECT experiment_id, process, t1_ns - t0_ns AS ns FROM thread_states WHERE state <> 'unknown' AND process IS NOT NULL
--     UNION ALL
--     SELECT experiment_id, process, -value FROM usage_values WHERE metric = 'wall'
--   ) GROUP BY ALL HAVING sum(ns) <> 0
WITH states AS (
  SELECT experiment_id, process, thread_id, t0_ns, t1_ns - t0_ns AS ns, state, border,
    state = 'on' AND cpu <> lag(cpu) OVER life AS migrated, lead(state) OVER life AS next
  FROM thread_states
  WINDOW life AS (PARTITION BY experiment_id, process, thread_id ORDER BY t0_ns)
),
named AS (
  SELECT experiment_id, process, thread_id, arg_max(thread_name, name_no) AS thread_name FROM thread_names GROUP BY ALL
)
SELECT s.experiment_id, e.experiment, s.process, s.thread_id, n.thread_name,
  COALESCE(sum(ns) FILTER (state = 'on'), 0)::BIGINT AS on_ns, COALESCE(sum(ns) FILTER (state = 'preempted'), 0)::BIGINT AS preempted_ns,
  COALESCE(sum(ns) FILTER (state = 'runqueue'), 0)::BIGINT AS runqueue_ns, COALESCE(sum(ns) FILTER (state = 'blocked'), 0)::BIGINT AS blocked_ns,
  COALESCE(sum(ns) FILTER (state = 'disk'), 0)::BIGINT AS disk_ns,
  COALESCE(sum(ns) FILTER (state = 'unknown' AND border NOT IN ('start', 'end')), 0)::BIGINT AS unknown_ns,
  count(*) FILTER (state = 'on' AND next IN ('preempted', 'blocked', 'disk', 'runqueue')) AS switches,
  count(*) FILTER (migrated) AS migrations, max(ns) FILTER (state = 'runqueue') AS longest_runqueue_ns
FROM states s
LEFT JOIN experiment_names e USING (experiment_id)
LEFT JOIN named n USING (experiment_id, process, thread_id)
GROUP BY ALL
