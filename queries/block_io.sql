-- row: requests of one kind to one block device, by the function that issued them, in one mode
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- function_id = functions.function_id
-- function = functions.name: The leaf of the stack; missing without a stack.
-- load_object = load_objects.name
-- device VARCHAR: The device's numbers, as in `block_requests`.
-- operation VARCHAR: `read`, `write`, `flush`, `discard` or `other`.
-- requests BIGINT: [count] How many requests were issued.
-- bytes BIGINT: [bytes] How many bytes they moved.
-- timed BIGINT: [count] How many have a duration.
-- total_ns BIGINT: [ns] How long these took the device altogether; missing if none has a duration, like the next ones.
-- mean_ns BIGINT: [ns] How long on average.
-- longest_ns BIGINT: [ns] The longest.
--
-- invariant total: Each request that was issued is in one row of each mode.
--   SELECT experiment_id, mode, sum(requests), sum(bytes), sum(total_ns) FROM (
--     SELECT experiment_id, mode, requests, bytes, COALESCE(total_ns, 0) AS total_ns FROM block_io
--     UNION ALL
--     SELECT experiment_id, mode, -period, -bytes * period, -COALESCE(duration_ns, 0) FROM block_requests CROSS JOIN modes WHERE t0_ns IS NOT NULL
--   ) GROUP BY ALL HAVING sum(requests) <> 0 OR sum(bytes) <> 0 OR sum(total_ns) <> 0
WITH summed AS (
  SELECT experiment_id, stack, device, operation, sum(period)::BIGINT AS requests, sum(bytes * period)::BIGINT AS bytes,
    count(duration_ns) AS timed, sum(duration_ns)::BIGINT AS total_ns, max(duration_ns) AS longest_ns
  FROM block_requests WHERE t0_ns IS NOT NULL GROUP BY ALL
),
of_functions AS (
  SELECT s.experiment_id, l.mode, l.function_id, s.device, s.operation, sum(s.requests)::BIGINT AS requests, sum(s.bytes)::BIGINT AS bytes, sum(s.timed)::BIGINT AS timed,
    sum(s.total_ns)::BIGINT AS total_ns, (sum(s.total_ns) // NULLIF(sum(s.timed), 0))::BIGINT AS mean_ns, max(s.longest_ns) AS longest_ns
  FROM summed s JOIN leaf_functions l USING (experiment_id, stack) GROUP BY ALL
)
SELECT o.experiment_id, e.experiment, o.mode, o.function_id, f.name AS function, b.name AS load_object, o.* EXCLUDE (experiment_id, mode, function_id)
FROM of_functions o
LEFT JOIN experiment_names e USING (experiment_id)
LEFT JOIN functions f USING (experiment_id, function_id)
LEFT JOIN load_objects b USING (experiment_id, load_object_id)
