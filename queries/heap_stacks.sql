-- row: one stack of calls that allocated memory: how much, and how much of that was never freed
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- stack VARCHAR: The functions' names from the root to the leaf as in `folded`. Stacks of the same functions are rows apart if they differ in an instruction.
-- allocations BIGINT: [count] The number of allocations: the metric `heapalloccnt`.
-- allocated_bytes BIGINT: [bytes] Their sizes: `heapallocbytes`.
-- leaks BIGINT: [count] The number of them that were never freed, or not wholly: `heapleakcnt`.
-- leaked_bytes BIGINT: [bytes] How much of them was never freed: `heapleakbytes`.
-- stack_id BIGINT: Hash of the stack's frames: `stacks.stack_id`.
--
-- invariant one_row: A stack has one row for each mode, and its text.
--   SELECT experiment_id, mode, stack_id, count(*) FROM heap_stacks GROUP BY ALL HAVING count(*) > 1 OR count(stack) < count(*)
-- invariant total: The rows sum to `<Total>`.
--   SELECT experiment_id, mode, metric, sum(value) FROM (
--     SELECT experiment_id, mode, unnest([
--       {metric: 'heapalloccnt', value: allocations}, {metric: 'heapallocbytes', value: allocated_bytes},
--       {metric: 'heapleakcnt', value: leaks}, {metric: 'heapleakbytes', value: leaked_bytes}], recursive := true) FROM heap_stacks
--     UNION ALL
--     SELECT experiment_id, mode, metric, -inclusive FROM function_metrics
--     WHERE metric IN ('heapalloccnt', 'heapallocbytes', 'heapleakcnt', 'heapleakbytes') AND function = '<Total>' AND kind = 'artificial'
--   ) GROUP BY ALL HAVING sum(value) <> 0
WITH
-- A filter by experiment reaches the frames through inner joins only.
sums AS NOT MATERIALIZED (
  SELECT experiment_id, experiment, mode, stack_id,
    sum(value) FILTER (metric = 'heapalloccnt') AS allocations, sum(value) FILTER (metric = 'heapallocbytes') AS allocated_bytes,
    sum(value) FILTER (metric = 'heapleakcnt') AS leaks, sum(value) FILTER (metric = 'heapleakbytes') AS leaked_bytes
  FROM stack_metrics WHERE metric IN ('heapalloccnt', 'heapallocbytes', 'heapleakcnt', 'heapleakbytes')
  GROUP BY ALL
),
passed AS NOT MATERIALIZED (
  SELECT experiment_id, stack_id, "position", function_id FROM frames JOIN (SELECT DISTINCT experiment_id, stack_id FROM sums) USING (experiment_id, stack_id)
),
texts AS NOT MATERIALIZED (
  SELECT p.experiment_id, p.stack_id, string_agg(replace(f.name, ';', ':'), ';' ORDER BY p."position" DESC) AS stack
  FROM passed p JOIN functions f USING (experiment_id, function_id) GROUP BY ALL
)
SELECT s.experiment_id, s.experiment, s.mode, COALESCE(t.stack, '<Total>') AS stack,
  COALESCE(s.allocations, 0)::BIGINT AS allocations, COALESCE(s.allocated_bytes, 0)::BIGINT AS allocated_bytes,
  COALESCE(s.leaks, 0)::BIGINT AS leaks, COALESCE(s.leaked_bytes, 0)::BIGINT AS leaked_bytes, s.stack_id
FROM sums s LEFT JOIN texts t USING (experiment_id, stack_id)
