-- row: one metric's value of one normalized stack in one experiment
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- stack_id BIGINT: Hash of the stack's frames: `stacks.stack_id`.
-- value = stack_values.value
-- samples = stack_values.samples
--
-- invariant stacks_recorded: Every stack with a value is in `recorded_stacks`.
--   SELECT * FROM stack_values ANTI JOIN recorded_stacks USING (experiment_id, stack)
-- invariant metrics_known: Every metric with a value is in `metrics`.
--   SELECT DISTINCT experiment_id, metric FROM stack_values ANTI JOIN metrics USING (experiment_id, metric)
-- invariant samples_recomputed: The values are the sums over the samples with that recorded stack.
--   SELECT experiment_id, metric, stack, sum(value), sum(found), sum(samples), sum(n) FROM (
--     SELECT experiment_id, metric, stack, value, samples, 0 AS found, 0 AS n FROM stack_values
--     UNION ALL
--     SELECT experiment_id, v.metric, s.stack, 0, 0, sum(v.value), count(*)
--     FROM sample_metrics v JOIN samples s USING (experiment_id, sample) GROUP BY ALL
--   ) GROUP BY ALL HAVING sum(value) <> sum(found) OR sum(samples) <> sum(n)
SELECT v.experiment_id, n.experiment, s.mode, v.metric, t.unit, s.stack_id,
  sum(v.value)::BIGINT AS value, sum(v.samples)::BIGINT AS samples
FROM stack_values v
JOIN mode_stacks s USING (experiment_id, stack)
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
GROUP BY ALL
