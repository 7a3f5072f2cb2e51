-- row: one event of `perf stat record` in one interval, on all CPUs and of all threads that were counted
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- interval_no = counts.interval_no
-- t0_ns = counts.t0_ns
-- t1_ns = counts.t1_ns
-- event = counts.event
-- value BIGINT: [count] The sum of the counters' counts, each scaled as in `counters`. Missing if there is none.
-- amount DOUBLE: The count in the event's unit.
-- unit = counts.unit
-- enabled_ns BIGINT: [ns] How long the counters were enabled, in total.
-- running_ns BIGINT: [ns] How long the counters were counting, in total.
-- running_percent DOUBLE: How much of the time for which counters were enabled they counted, in percent; missing if they were never enabled.
-- missing VARCHAR: Why there is no count: `not supported` (the machine cannot count the event) or `not counted` (no counter ran in the interval); else empty.
--
-- invariant one_row: An event has one row for each interval.
--   SELECT experiment_id, interval_no, event FROM event_counts GROUP BY ALL HAVING count(*) > 1
SELECT experiment_id, experiment, interval_no, t0_ns, t1_ns, event, TRY_CAST(sum(value) AS BIGINT) AS value, round(sum(amount), 6) AS amount, unit,
  TRY_CAST(sum(enabled_ns) AS BIGINT) AS enabled_ns, TRY_CAST(sum(running_ns) AS BIGINT) AS running_ns, round(100.0 * sum(running_ns) / nullif(sum(enabled_ns), 0), 2) AS running_percent,
  CASE WHEN count(value) > 0 THEN '' WHEN count(running_ns) > 0 THEN 'not counted' ELSE 'not supported' END AS missing
FROM counters
GROUP BY ALL
