-- row: one distinct stack of functions that waited in one state, as in `folded`. In gprofng's experiments, traced synchronization and I/O calls of at least a microsecond are waits
-- rules: S33
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- stack VARCHAR: The functions' names from the root to the leaf, as in `folded`; the leaf is the state's artificial function, or the function that was traced.
-- state VARCHAR: `preempted`, `runqueue`, `blocked` or `disk`, as in `thread_states`.
-- waits BIGINT: [count] How often; missing if only sums of waits were recorded (`perf record --off-cpu`), as are the mean and the longest.
-- wait_ns BIGINT: [ns] How long altogether.
-- mean_ns BIGINT: [ns] How long on average.
-- longest_ns BIGINT: [ns] The longest wait.
--
-- invariant as_folded: Each stack has the values of `offcpu`, or of the times of traced calls, that `folded` has for it.
--   SELECT experiment_id, mode, stack, sum(value), sum(samples) FROM (
--     SELECT experiment_id, mode, stack, wait_ns AS value, waits AS samples FROM wait_stacks
--     UNION ALL
--     SELECT experiment_id, mode, stack, -value, -samples FROM folded WHERE metric IN ('offcpu', 'sync', 'ioreadtime', 'iowritetime', 'ioothertime', 'ioerrortime')
--   ) GROUP BY ALL HAVING sum(value) <> 0 OR sum(samples) <> 0 AND count(*) = count(samples)
WITH ended AS (
  SELECT s.experiment_id, s.stack, wait_state(w.state) AS state, max(w.state) = 6 AS sums, count(*) AS waits, sum(w.duration_ns) AS wait_ns, max(w.duration_ns) AS longest_ns
  FROM wait_samples w JOIN samples s USING (experiment_id, sample)
  WHERE w.state <> 1
  GROUP BY ALL
  UNION ALL
  SELECT s.experiment_id, s.stack, 'blocked', false, count(*), sum(c.metric_ns), max(c.metric_ns)
  FROM (SELECT experiment_id, sample, metric_ns FROM sync_samples UNION ALL SELECT experiment_id, sample, metric_ns FROM io_samples) c
  JOIN samples s USING (experiment_id, sample)
  WHERE c.metric_ns > 0
  GROUP BY ALL
),
normalized AS (
  SELECT w.experiment_id, k.mode, k.stack_id, w.state, bool_or(w.sums) AS sums, sum(w.waits) AS waits, sum(w.wait_ns) AS wait_ns, max(w.longest_ns) AS longest_ns
  FROM ended w JOIN mode_stacks k USING (experiment_id, stack)
  GROUP BY ALL
),
texts AS (
  SELECT p.experiment_id, p.stack_id, string_agg(replace(f.name, ';', ':'), ';' ORDER BY p."position" DESC) AS stack
  FROM (FROM frames JOIN (SELECT DISTINCT experiment_id, stack_id FROM normalized) USING (experiment_id, stack_id)) p
  JOIN functions f USING (experiment_id, function_id)
  GROUP BY ALL
),
named AS (
  SELECT w.experiment_id, w.mode, COALESCE(t.stack, '<Total>') AS stack, w.state, sum(w.wait_ns)::BIGINT AS wait_ns,
    CASE WHEN NOT bool_or(w.sums) THEN sum(w.waits)::BIGINT END AS waits, CASE WHEN NOT bool_or(w.sums) THEN max(w.longest_ns) END AS longest_ns
  FROM normalized w LEFT JOIN texts t USING (experiment_id, stack_id)
  GROUP BY ALL
)
SELECT w.experiment_id, e.experiment, w.mode, w.stack, w.state, w.waits, w.wait_ns, w.wait_ns // w.waits AS mean_ns, w.longest_ns
FROM named w LEFT JOIN experiment_names e USING (experiment_id)
