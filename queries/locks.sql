-- row: one lock of the kernel that threads waited for
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- lock BIGINT: The lock's address.
-- type VARCHAR: The lock's type, as in `lock_waits`, of its first wait.
-- threads BIGINT: [count] How many threads waited for it.
-- waits BIGINT: [count] How many waits there were, also those whose begin or end was not recorded.
-- timed BIGINT: [count] How many have a duration.
-- wait_ns BIGINT: [ns] How long these took altogether; missing if none has a duration, like the next ones.
-- mean_ns BIGINT: [ns] How long on average.
-- longest_ns BIGINT: [ns] The longest.
--
-- invariant total: Each wait is in one row.
--   SELECT experiment_id, sum(waits), sum(wait_ns) FROM (
--     SELECT experiment_id, waits, COALESCE(wait_ns, 0) AS wait_ns FROM locks
--     UNION ALL
--     SELECT experiment_id, -period, -COALESCE(duration_ns, 0) FROM lock_waits
--   ) GROUP BY ALL HAVING sum(waits) <> 0 OR sum(wait_ns) <> 0
SELECT experiment_id, experiment, lock, arg_min(type, t0_ns) AS type, count(DISTINCT (process, thread_id)) AS threads, sum(period)::BIGINT AS waits,
  count(duration_ns) AS timed, sum(duration_ns)::BIGINT AS wait_ns, (sum(duration_ns) // NULLIF(count(duration_ns), 0))::BIGINT AS mean_ns, max(duration_ns) AS longest_ns
FROM lock_waits GROUP BY experiment_id, experiment, lock
