-- row: one function that waited for locks of one type of the kernel, in one mode
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- function_id = functions.function_id
-- function = functions.name: The function closest to the leaf that is not one of the kernel's own for locking; missing without a stack.
-- load_object = load_objects.name
-- type VARCHAR: The lock's type, as in `lock_waits`; missing for an end without a begin.
-- waits BIGINT: [count] How many waits there were, also those whose begin or end was not recorded.
-- timed BIGINT: [count] How many have a duration.
-- wait_ns BIGINT: [ns] How long these took altogether; missing if none has a duration, like the next ones.
-- mean_ns BIGINT: [ns] How long on average.
-- longest_ns BIGINT: [ns] The longest.
--
-- invariant total: Each wait is in one row of each mode.
--   SELECT experiment_id, mode, sum(waits), sum(wait_ns) FROM (
--     SELECT experiment_id, mode, waits, COALESCE(wait_ns, 0) AS wait_ns FROM lock_callers
--     UNION ALL
--     SELECT experiment_id, mode, -period, -COALESCE(duration_ns, 0) FROM lock_waits CROSS JOIN modes
--   ) GROUP BY ALL HAVING sum(waits) <> 0 OR sum(wait_ns) <> 0
WITH RECURSIVE
summed AS (
  SELECT experiment_id, stack, type, sum(period)::BIGINT AS waits, count(duration_ns) AS timed, sum(duration_ns)::BIGINT AS wait_ns, max(duration_ns) AS longest_ns
  FROM lock_waits GROUP BY ALL
),
locking AS (
  SELECT l.experiment_id, l.location FROM locations_wide l JOIN functions f USING (experiment_id, function_id)
  WHERE f.kind = 'kernel' AND regexp_matches(f.name, '^_*(raw_(spin|read|write)_(rq_)?(try)?lock|((native|pv|resilient)_)?queued_(spin|read|write)_lock|(ww_)?mutex_(try)?lock|rwsem_|down(_(read|write|common|interruptible|killable|timeout|trylock))*($| )|percpu_(down|rwsem)|rt_(mutex|spin|read|write)_|rt(lock|mutex)_|rwbase_|(traceiter|perf_trace|trace)_contention)')
),
-- The parent is the last node before it that is one level above, as in stack_nodes.
levels AS (
  SELECT n.*, unnest([n.depth - 1, n.depth]) AS level FROM mode_nodes n WHERE experiment_id IN (SELECT experiment_id FROM summed)
),
called AS (
  SELECT *, max(CASE WHEN level = depth THEN node END) OVER (PARTITION BY experiment_id, mode, level ORDER BY node ROWS UNBOUNDED PRECEDING) AS parent
  FROM levels
),
skipped AS MATERIALIZED (
  SELECT c.experiment_id, c.mode, c.node, c.parent FROM called c JOIN locking USING (experiment_id, location) WHERE c.level < c.depth
),
up AS (
  SELECT k.experiment_id, k.mode, k.stack, k.node, 0 AS steps FROM mode_leaves k SEMI JOIN summed USING (experiment_id, stack)
  UNION ALL
  SELECT u.experiment_id, u.mode, u.stack, s.parent, u.steps + 1 FROM up u JOIN skipped s USING (experiment_id, mode, node)
),
callers AS (
  SELECT experiment_id, mode, stack, arg_max(node, steps) AS node FROM up GROUP BY ALL
),
located AS (
  SELECT c.experiment_id, c.mode, c.stack, n.location FROM callers c LEFT JOIN mode_nodes n USING (experiment_id, mode, node)
),
placed AS (
  SELECT l.experiment_id, l.mode, l.stack, a.function_id FROM located l LEFT JOIN locations_wide a USING (experiment_id, location)
),
of_functions AS (
  SELECT s.experiment_id, p.mode, p.function_id, s.type, sum(s.waits)::BIGINT AS waits, sum(s.timed)::BIGINT AS timed, sum(s.wait_ns)::BIGINT AS wait_ns,
    (sum(s.wait_ns) // NULLIF(sum(s.timed), 0))::BIGINT AS mean_ns, max(s.longest_ns) AS longest_ns
  FROM summed s JOIN placed p USING (experiment_id, stack) GROUP BY ALL
)
SELECT o.experiment_id, e.experiment, o.mode, o.function_id, f.name AS function, b.name AS load_object, o.* EXCLUDE (experiment_id, mode, function_id)
FROM of_functions o
LEFT JOIN experiment_names e USING (experiment_id)
LEFT JOIN functions f USING (experiment_id, function_id)
LEFT JOIN load_objects b USING (experiment_id, load_object_id)
