-- row: one function that waited, in one state and one mode. In gprofng's experiments, traced synchronization and I/O calls of at least a microsecond are waits
-- rules: S33
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- function_id = functions.function_id
-- function = functions.name: The function that waited: the caller of the state's artificial function, such as `<Blocked>`; of a traced call, the function that was traced, such as `pthread_mutex_lock`.
-- load_object = load_objects.name
-- state VARCHAR: `preempted`, `runqueue`, `blocked` or `disk`, as in `thread_states`.
-- waits BIGINT: [count] The number of waits; missing if only sums of waits were recorded (`perf record --off-cpu`), as are the mean and the longest.
-- wait_ns BIGINT: [ns] The sum of the waits.
-- mean_ns BIGINT: [ns] The mean wait.
-- longest_ns BIGINT: [ns] The longest wait.
--
-- invariant total: The rows sum to `<Total>` of the metric `offcpu`, or of the times of traced calls.
--   SELECT experiment_id, mode, sum(value) FROM (
--     SELECT experiment_id, mode, wait_ns AS value FROM waits
--     UNION ALL
--     SELECT experiment_id, mode, -inclusive FROM function_metrics WHERE metric IN ('offcpu', 'sync', 'ioreadtime', 'iowritetime', 'ioothertime', 'ioerrortime') AND function = '<Total>' AND kind = 'artificial'
--   ) GROUP BY ALL HAVING sum(value) <> 0
-- invariant parts: The metric `offcpu` is the sum of its parts, for every function.
--   SELECT experiment_id, mode, function_id, sum(IF(metric = 'offcpu', -inclusive, inclusive)), sum(IF(metric = 'offcpu', -exclusive, exclusive))
--   FROM function_metrics WHERE metric IN ('offcpu', 'offcpu.preempted', 'offcpu.runqueue', 'offcpu.blocked', 'offcpu.disk')
--   GROUP BY ALL HAVING sum(IF(metric = 'offcpu', -inclusive, inclusive)) <> 0 OR sum(IF(metric = 'offcpu', -exclusive, exclusive)) <> 0
WITH
-- A node's parent is the last node before it that is one level above, as in stack_nodes.
levels AS (
  SELECT *, unnest([depth - 1, depth]) AS level FROM mode_nodes
),
called AS (
  SELECT *, max(CASE WHEN level = depth THEN node END) OVER (PARTITION BY experiment_id, mode, level ORDER BY node ROWS UNBOUNDED PRECEDING) AS parent
  FROM levels
),
ended AS (
  SELECT s.experiment_id, s.stack, w.state, w.duration_ns, true AS has_leaf
  FROM wait_samples w JOIN samples s USING (experiment_id, sample)
  WHERE w.state <> 1
  UNION ALL
  SELECT s.experiment_id, s.stack, 4, c.metric_ns, false
  FROM (SELECT experiment_id, sample, metric_ns FROM sync_samples UNION ALL SELECT experiment_id, sample, metric_ns FROM io_samples) c
  JOIN samples s USING (experiment_id, sample)
  WHERE c.metric_ns > 0
),
placed AS (
  SELECT w.experiment_id, k.mode, k.node, w.state, w.duration_ns, w.has_leaf FROM ended w JOIN mode_stacks k USING (experiment_id, stack)
),
waiting AS (
  SELECT p.experiment_id, p.mode, CASE WHEN p.has_leaf THEN c.parent ELSE p.node END AS node, p.state, p.duration_ns
  FROM placed p LEFT JOIN (SELECT experiment_id, mode, node, parent FROM called WHERE level < depth) c USING (experiment_id, mode, node)
),
located AS (
  SELECT w.experiment_id, w.mode, n.location, w.state, w.duration_ns FROM waiting w LEFT JOIN mode_nodes n USING (experiment_id, mode, node)
),
summed AS (
  SELECT l.experiment_id, l.mode, a.function_id, wait_state(l.state) AS state, CASE WHEN max(l.state) < 6 THEN count(*) END AS waits,
    sum(l.duration_ns)::BIGINT AS wait_ns, CASE WHEN max(l.state) < 6 THEN max(l.duration_ns) END AS longest_ns
  FROM located l LEFT JOIN locations_wide a USING (experiment_id, location)
  GROUP BY ALL
)
SELECT s.experiment_id, e.experiment, s.mode, s.function_id, f.name AS function, o.name AS load_object, s.state,
  s.waits, s.wait_ns, s.wait_ns // s.waits AS mean_ns, s.longest_ns
FROM summed s
LEFT JOIN experiment_names e USING (experiment_id)
LEFT JOIN functions f USING (experiment_id, function_id)
LEFT JOIN load_objects o USING (experiment_id, load_object_id)
