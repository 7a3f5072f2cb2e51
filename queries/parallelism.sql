-- row: one level of parallelism (a number of threads that were on CPUs at the same time), with its duration
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- level BIGINT: [count] The number of threads that were on CPUs, from 1.
-- wall_ns BIGINT: [ns] How long exactly that many threads were on CPUs.
-- on_ns BIGINT: [ns] The time of these threads on CPUs: `level` times `wall_ns`.
--
-- invariant total: The sum of `on_ns` is the time of all threads in the state `on`.
--   SELECT experiment_id, sum(ns) FROM (
--     SELECT experiment_id, on_ns AS ns FROM parallelism
--     UNION ALL
--     SELECT experiment_id, -(t1_ns - t0_ns) FROM thread_states WHERE state = 'on'
--   ) GROUP BY ALL HAVING sum(ns) <> 0
WITH changes AS (
  SELECT experiment_id, t0_ns AS at_ns, 1 AS change FROM thread_states WHERE state = 'on'
  UNION ALL
  SELECT experiment_id, t1_ns, -1 FROM thread_states WHERE state = 'on'
),
levels AS (
  SELECT experiment_id, at_ns, sum(sum(change)) OVER (PARTITION BY experiment_id ORDER BY at_ns)::BIGINT AS level,
    lead(at_ns) OVER (PARTITION BY experiment_id ORDER BY at_ns) AS until_ns
  FROM changes GROUP BY experiment_id, at_ns
)
SELECT l.experiment_id, e.experiment, l.level, sum(until_ns - at_ns)::BIGINT AS wall_ns, sum(l.level * (until_ns - at_ns))::BIGINT AS on_ns
FROM levels l
LEFT JOIN experiment_names e USING (experiment_id)
WHERE l.level > 0 AND until_ns IS NOT NULL
GROUP BY ALL
