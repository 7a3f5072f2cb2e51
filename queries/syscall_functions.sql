-- row: one system call by its name, as one function made it, in one mode
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- function_id = functions.function_id
-- function = functions.name: The leaf of the stack; missing without a stack.
-- load_object = load_objects.name
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
-- invariant total: Each call is in one row of each mode.
--   SELECT experiment_id, mode, sum(calls), sum(total_ns) FROM (
--     SELECT experiment_id, mode, calls, COALESCE(total_ns, 0) AS total_ns FROM syscall_functions
--     UNION ALL
--     SELECT experiment_id, mode, -period, -COALESCE(duration_ns, 0) FROM syscalls CROSS JOIN modes
--   ) GROUP BY ALL HAVING sum(calls) <> 0 OR sum(total_ns) <> 0
WITH summed AS (
  SELECT experiment_id, stack, number, name, sum(period)::BIGINT AS calls, COALESCE(sum(period) FILTER (error IS NOT NULL), 0)::BIGINT AS errors,
    count(duration_ns) AS timed, sum(duration_ns)::BIGINT AS total_ns, min(duration_ns) AS shortest_ns, max(duration_ns) AS longest_ns
  FROM syscalls GROUP BY ALL
),
placed AS (
  SELECT s.*, l.mode, l.function_id FROM summed s JOIN leaf_functions l USING (experiment_id, stack)
),
of_functions AS (
  SELECT experiment_id, mode, function_id, number, name, sum(calls)::BIGINT AS calls, sum(errors)::BIGINT AS errors, sum(timed)::BIGINT AS timed,
    sum(total_ns)::BIGINT AS total_ns, (sum(total_ns) // NULLIF(sum(timed), 0))::BIGINT AS mean_ns, min(shortest_ns) AS shortest_ns, max(longest_ns) AS longest_ns
  FROM placed GROUP BY ALL
)
SELECT o.experiment_id, e.experiment, o.mode, o.function_id, f.name AS function, b.name AS load_object, o.* EXCLUDE (experiment_id, mode, function_id)
FROM of_functions o
LEFT JOIN experiment_names e USING (experiment_id)
LEFT JOIN functions f USING (experiment_id, function_id)
LEFT JOIN load_objects b USING (experiment_id, load_object_id)
