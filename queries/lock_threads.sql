-- row: one thread that waited for locks of the kernel
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- process = samples.process
-- thread_id = samples.thread_id
-- thread_name = thread_names.thread_name: The latest name; missing if it was not recorded.
-- waits BIGINT: [count] How many waits there were, also those whose begin or end was not recorded.
-- timed BIGINT: [count] How many have a duration.
-- wait_ns BIGINT: [ns] How long these took altogether; missing if none has a duration, like the next ones.
-- mean_ns BIGINT: [ns] How long on average.
-- longest_ns BIGINT: [ns] The longest.
--
-- invariant total: Each wait is in one row.
--   SELECT experiment_id, sum(waits), sum(wait_ns) FROM (
--     SELECT experiment_id, waits, COALESCE(wait_ns, 0) AS wait_ns FROM lock_threads
--     UNION ALL
--     SELECT experiment_id, -period, -COALESCE(duration_ns, 0) FROM lock_waits
--   ) GROUP BY ALL HAVING sum(waits) <> 0 OR sum(wait_ns) <> 0
WITH summed AS (
  SELECT experiment_id, experiment, process, thread_id, sum(period)::BIGINT AS waits, count(duration_ns) AS timed, sum(duration_ns)::BIGINT AS wait_ns,
    (sum(duration_ns) // NULLIF(count(duration_ns), 0))::BIGINT AS mean_ns, max(duration_ns) AS longest_ns
  FROM lock_waits GROUP BY ALL
),
named AS (
  SELECT experiment_id, process, thread_id, arg_max(thread_name, name_no) AS thread_name FROM thread_names GROUP BY ALL
)
SELECT s.experiment_id, s.experiment, s.process, s.thread_id, n.thread_name, s.* EXCLUDE (experiment_id, experiment, process, thread_id)
FROM summed s LEFT JOIN named n USING (experiment_id, process, thread_id)
