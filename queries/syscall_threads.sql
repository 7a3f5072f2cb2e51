-- row: one system call by its name, as one thread made it
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- process = samples.process
-- thread_id = samples.thread_id
-- thread_name = thread_names.thread_name: The latest name; missing if it was not recorded.
-- number BIGINT: Its number, as in `syscalls`.
-- name VARCHAR: Its name; missing if unknown.
-- calls BIGINT: [count] How many calls there were, also those whose entry or exit was not recorded.
-- errors BIGINT: [count] How many failed.
-- timed BIGINT: [count] How many have a duration.
-- total_ns BIGINT: [ns] How long these took altogether; missing if none has a duration, like the next ones.
-- mean_ns BIGINT: [ns] How long on average.
-- shortest_ns BIGINT: [ns] The shortest.
-- longest_ns BIGINT: [ns] The longest.
--
-- invariant total: Each call is in one row.
--   SELECT experiment_id, name, sum(calls), sum(total_ns) FROM (
--     SELECT experiment_id, name, calls, COALESCE(total_ns, 0) AS total_ns FROM syscall_threads
--     UNION ALL
--     SELECT experiment_id, name, -period, -COALESCE(duration_ns, 0) FROM syscalls
--   ) GROUP BY ALL HAVING sum(calls) <> 0 OR sum(total_ns) <> 0
WITH summed AS (
  SELECT experiment_id, experiment, process, thread_id, number, name, sum(period)::BIGINT AS calls, COALESCE(sum(period) FILTER (error IS NOT NULL), 0)::BIGINT AS errors,
    count(duration_ns) AS timed, sum(duration_ns)::BIGINT AS total_ns, (sum(duration_ns) // NULLIF(count(duration_ns), 0))::BIGINT AS mean_ns,
    min(duration_ns) AS shortest_ns, max(duration_ns) AS longest_ns
  FROM syscalls GROUP BY ALL
),
named AS (
  SELECT experiment_id, process, thread_id, arg_max(thread_name, name_no) AS thread_name FROM thread_names GROUP BY ALL
)
SELECT s.experiment_id, s.experiment, s.process, s.thread_id, n.thread_name, s.* EXCLUDE (experiment_id, experiment, process, thread_id)
FROM summed s LEFT JOIN named n USING (experiment_id, process, thread_id)
