-- row: one number of threads that were on a CPU at the same time
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- level BIGINT: [count] How many threads were on a CPU, from 1.
-- wall_ns BIGINT: [ns] For how long.
-- on_ns BIGINT: [ns] Their time on CPUs: the level times that.
--
-- invariant total: The time on CPUs is that of the threads.
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
