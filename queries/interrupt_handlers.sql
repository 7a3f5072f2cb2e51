-- row: one handler of interrupts
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- kind VARCHAR: `irq` (of a device), `softirq` or `vector` (of the processor itself).
-- number BIGINT: The number of the interrupt or the vector.
-- name VARCHAR: Its name, as in `interrupts`.
-- runs BIGINT: [count] How often it ran, also where its entry or exit was not recorded.
-- timed BIGINT: [count] How many runs have a duration.
-- total_ns BIGINT: [ns] How long these took altogether, with interrupts meanwhile; missing if none has a duration, like the next ones.
-- mean_ns BIGINT: [ns] How long on average.
-- longest_ns BIGINT: [ns] The longest.
-- cpus BIGINT: [count] On how many CPUs it ran.
--
-- invariant total: Each run is in one row.
--   SELECT experiment_id, sum(runs), sum(total_ns) FROM (
--     SELECT experiment_id, runs, COALESCE(total_ns, 0) AS total_ns FROM interrupt_handlers
--     UNION ALL
--     SELECT experiment_id, -period, -COALESCE(duration_ns, 0) FROM interrupts
--   ) GROUP BY ALL HAVING sum(runs) <> 0 OR sum(total_ns) <> 0
SELECT experiment_id, experiment, kind, number, name, sum(period)::BIGINT AS runs, count(duration_ns) AS timed, sum(duration_ns)::BIGINT AS total_ns,
  (sum(duration_ns) // NULLIF(count(duration_ns), 0))::BIGINT AS mean_ns, max(duration_ns) AS longest_ns, count(DISTINCT cpu) AS cpus
FROM interrupts GROUP BY experiment_id, experiment, kind, number, name
