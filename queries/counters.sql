-- row: one counter of `perf stat record` in one interval: the count of an event on a CPU or of a thread, as far as perf counted these separately
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- interval_no = counts.interval_no
-- t0_ns = counts.t0_ns
-- t1_ns = counts.t1_ns
-- event = counts.event
-- cpu = counts.cpu
-- thread_id = counts.thread_id
-- thread_name = counts.thread_name
-- value BIGINT: [count] The count. If the counter ran only part of the time, because others shared the hardware, the count is scaled to the whole time. Missing if there is none.
-- amount DOUBLE: The count in the event's unit.
-- unit = counts.unit
-- enabled_ns = counts.enabled_ns
-- running_ns = counts.running_ns
-- running_percent DOUBLE: How much of the time for which the counter was enabled it counted, in percent; missing if it was never enabled.
-- missing VARCHAR: Why there is no count: `not supported` (the machine cannot count the event) or `not counted` (the counter did not run in the interval); else empty.
--
-- invariant names: Every row's experiment exists.
--   SELECT * FROM counters WHERE experiment IS NULL
-- invariant known: A count has the times of its counter.
--   SELECT * FROM counts WHERE (running_ns IS NULL) <> (enabled_ns IS NULL) OR value IS NOT NULL AND running_ns IS NULL OR value < 0
-- invariant intervals: All counters have the same intervals, and an interval begins where the one before it ends.
--   SELECT * FROM (
--     SELECT *, lag(t1_ns, 1, 0) OVER (PARTITION BY experiment_id ORDER BY interval_no, t0_ns) AS before FROM (SELECT DISTINCT experiment_id, interval_no, t0_ns, t1_ns FROM counts)
--   ) WHERE t0_ns <> before OR t1_ns < t0_ns
WITH scaled AS (
  SELECT *, CASE WHEN running_ns < enabled_ns THEN TRY_CAST(floor(value::DOUBLE * enabled_ns / nullif(running_ns, 0)) AS BIGINT) WHEN running_ns > 0 THEN value END AS counted
  FROM counts
)
SELECT c.experiment_id, e.experiment, c.interval_no, c.t0_ns, c.t1_ns, c.event, c.cpu, c.thread_id, c.thread_name,
  c.counted AS value, round(c.counted * c.scale::DOUBLE, 6) AS amount, c.unit, c.enabled_ns, c.running_ns, round(100.0 * c.running_ns / nullif(c.enabled_ns, 0), 2) AS running_percent,
  CASE WHEN c.running_ns IS NULL THEN 'not supported' WHEN c.counted IS NULL THEN 'not counted' ELSE '' END AS missing
FROM scaled c
LEFT JOIN experiment_names e USING (experiment_id)
