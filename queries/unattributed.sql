-- row: one reason for missing knowledge, in one load object
-- rules: S15, S18, S31
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- reason VARCHAR: Why the leaf's function is not known, or why there is no stack.
-- load_object = load_objects.name: The load object of the leaf; empty when there is no stack.
-- samples = stack_values.samples
-- value = stack_values.value
--
-- invariant reasons: Every row has its experiment, unit, reason and load object.
--   SELECT * FROM unattributed WHERE experiment IS NULL OR unit IS NULL OR reason = '' OR load_object IS NULL
WITH unknown AS (
  SELECT v.experiment_id, s.mode, v.metric, CASE WHEN k.depth = 0 THEN s.reason ELSE l.reason END AS reason,
    k.depth, l.load_object_id, v.value, v.samples
  FROM stack_values v
  JOIN mode_stacks s USING (experiment_id, raw_stack_id)
  JOIN stacks k USING (experiment_id, stack_id)
  LEFT JOIN locations l ON l.experiment_id = k.experiment_id AND l.location_id = k.leaf_location_id
  WHERE k.depth = 0 OR l.reason <> ''
)
SELECT v.experiment_id, n.experiment, v.mode, v.metric, t.unit, v.reason,
  CASE WHEN v.depth = 0 THEN '' ELSE o.name END AS load_object,
  sum(v.samples)::BIGINT AS samples, sum(v.value)::BIGINT AS value
FROM unknown v
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN load_objects o USING (experiment_id, load_object_id)
GROUP BY ALL
