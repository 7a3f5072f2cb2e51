-- row: one place in the kernel that allocated memory, for one function, in one mode
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- function_id = functions.function_id
-- function = functions.name: The leaf of the stack; missing without a stack.
-- load_object = load_objects.name
-- call_site BIGINT: The address in the kernel, as in `kernel_allocations`.
-- caller = functions.name: The kernel's function there; missing if it is on no stack of the recording.
-- caller_offset BIGINT: [bytes] How far the address is from its start.
-- allocations BIGINT: [count] How many blocks were allocated.
-- requested_bytes BIGINT: [bytes] How many bytes the kernel asked for.
-- allocated_bytes BIGINT: [bytes] How many it got.
-- wasted_bytes BIGINT: [bytes] The difference: internal fragmentation.
-- unfreed_bytes BIGINT: [bytes] How many of the allocated bytes were not freed while it was recorded, as far as is known.
-- moved BIGINT: [count] How many blocks another CPU freed than allocated them.
--
-- invariant total: Each block is in one row of each mode.
--   SELECT experiment_id, mode, sum(allocations), sum(bytes) FROM (
--     SELECT experiment_id, mode, allocations, allocated_bytes AS bytes FROM kernel_memory
--     UNION ALL
--     SELECT experiment_id, mode, -period, -allocated_bytes * period FROM kernel_allocations CROSS JOIN modes
--   ) GROUP BY ALL HAVING sum(allocations) <> 0 OR sum(bytes) <> 0
WITH summed AS (
  SELECT experiment_id, stack, call_site, caller, caller_offset, sum(period)::BIGINT AS allocations, sum(requested_bytes * period)::BIGINT AS requested_bytes,
    sum(allocated_bytes * period)::BIGINT AS allocated_bytes, COALESCE(sum(allocated_bytes * period) FILTER (freed_ns IS NULL), 0)::BIGINT AS unfreed_bytes,
    COALESCE(sum(period) FILTER (freed_cpu <> cpu), 0)::BIGINT AS moved
  FROM kernel_allocations GROUP BY ALL
),
of_functions AS (
  SELECT s.experiment_id, l.mode, l.function_id, s.call_site, s.caller, s.caller_offset, sum(s.allocations)::BIGINT AS allocations,
    sum(s.requested_bytes)::BIGINT AS requested_bytes, sum(s.allocated_bytes)::BIGINT AS allocated_bytes, (sum(s.allocated_bytes) - sum(s.requested_bytes))::BIGINT AS wasted_bytes,
    sum(s.unfreed_bytes)::BIGINT AS unfreed_bytes, sum(s.moved)::BIGINT AS moved
  FROM summed s JOIN leaf_functions l USING (experiment_id, stack) GROUP BY ALL
)
SELECT o.experiment_id, e.experiment, o.mode, o.function_id, f.name AS function, b.name AS load_object, o.* EXCLUDE (experiment_id, mode, function_id)
FROM of_functions o
LEFT JOIN experiment_names e USING (experiment_id)
LEFT JOIN functions f USING (experiment_id, function_id)
LEFT JOIN load_objects b USING (experiment_id, load_object_id)
