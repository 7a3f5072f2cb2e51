-- row: one error that one system call returned to one function, in one mode
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- function_id = functions.function_id
-- function = functions.name: The leaf of the stack; missing without a stack.
-- load_object = load_objects.name
-- number BIGINT: The call's number, as in `syscalls`.
-- name VARCHAR: The call's name; missing if unknown.
-- error BIGINT: The error's number, as in `syscalls`.
-- error_name VARCHAR: Its name; missing if unknown.
-- calls BIGINT: [count] How many calls failed so.
-- total_ns BIGINT: [ns] How long those of them took that have a duration; missing if none has.
--
-- invariant total: The calls are the errors of `syscall_functions`.
--   SELECT experiment_id, mode, name, sum(calls) FROM (
--     SELECT experiment_id, mode, name, calls FROM syscall_errors
--     UNION ALL
--     SELECT experiment_id, mode, name, -errors FROM syscall_functions
--   ) GROUP BY ALL HAVING sum(calls) <> 0
WITH failed AS (
  SELECT experiment_id, stack, number, name, error, error_name, sum(period)::BIGINT AS calls, sum(duration_ns)::BIGINT AS total_ns
  FROM syscalls WHERE error IS NOT NULL GROUP BY ALL
),
of_functions AS (
  SELECT f.experiment_id, l.mode, l.function_id, f.number, f.name, f.error, f.error_name, sum(f.calls)::BIGINT AS calls, sum(f.total_ns)::BIGINT AS total_ns
  FROM failed f JOIN leaf_functions l USING (experiment_id, stack) GROUP BY ALL
)
SELECT o.experiment_id, e.experiment, o.mode, o.function_id, f.name AS function, b.name AS load_object, o.* EXCLUDE (experiment_id, mode, function_id)
FROM of_functions o
LEFT JOIN experiment_names e USING (experiment_id)
LEFT JOIN functions f USING (experiment_id, function_id)
LEFT JOIN load_objects b USING (experiment_id, load_object_id)
