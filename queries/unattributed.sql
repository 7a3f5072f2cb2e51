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
WITH unknown AS MATERIALIZED (
  SELECT s.experiment_id, s.raw_stack_id, s.mode, k.depth, k.leaf_location_id, s.reason
  FROM mode_stacks s JOIN stacks k USING (experiment_id, stack_id)
),
-- Joins of three tables by experiment_id and another key are done in steps: the
-- optimizer takes experiment_id alone for a key and would multiply the tables.
reasons AS MATERIALIZED (
  SELECT u.experiment_id, u.raw_stack_id, u.mode, CASE WHEN u.depth = 0 THEN u.reason ELSE l.reason END AS reason,
    u.depth, l.load_object_id
  FROM unknown u
  LEFT JOIN locations l ON l.experiment_id = u.experiment_id AND l.location_id = u.leaf_location_id
  WHERE u.depth = 0 OR l.reason <> ''
),
sums AS MATERIALIZED (
  SELECT r.experiment_id, r.mode, v.metric, r.reason, r.depth, r.load_object_id, sum(v.samples) AS samples, sum(v.value) AS value
  FROM reasons r JOIN stack_values v USING (experiment_id, raw_stack_id)
  GROUP BY ALL
)
SELECT v.experiment_id, n.experiment, v.mode, v.metric, t.unit, v.reason,
  CASE WHEN v.depth = 0 THEN '' ELSE o.name END AS load_object,
  sum(v.samples)::BIGINT AS samples, sum(v.value)::BIGINT AS value
FROM sums v
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN load_objects o USING (experiment_id, load_object_id)
GROUP BY ALL
