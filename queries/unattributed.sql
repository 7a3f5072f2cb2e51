-- row: one reason why functions, instructions or data objects are unknown, in one load object
-- rules: S15, S18, S22, S31
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- reason VARCHAR: Why the leaf's function, its instruction or the data object is unknown, or why there is no stack.
-- load_object = load_objects.name: The load object of the leaf. For data objects, the load object of the instruction that accessed memory or, if that was not found, of the recorded PC. Empty if there is none.
-- samples = stack_values.samples
-- value = stack_values.value
-- subject VARCHAR: What is unknown: `function`, `instruction` (of a known function) or `data object`. Sum only rows of one subject.
--
-- invariant reasons: Every row's experiment, unit, reason and load object exist.
--   SELECT * FROM unattributed WHERE experiment IS NULL OR unit IS NULL OR reason = '' OR load_object IS NULL
WITH
-- A stack without frames has its own reason; for other stacks, the leaf's instruction has the
-- reason.
empty AS (
  SELECT s.experiment_id, s.mode, v.metric, s.reason, sum(v.samples) AS samples, sum(v.value) AS value
  FROM mode_leaves s JOIN stack_values v USING (experiment_id, stack)
  WHERE s.node = 0
  GROUP BY ALL
),
reasons AS (
  SELECT experiment_id, mode, metric, samples, value, reason, true AS nowhere, NULL AS load_object_id, NULL AS function_id FROM empty
  UNION ALL
  SELECT e.experiment_id, e.mode, e.metric, e.samples, e.value, l.reason, false, l.load_object_id, l.function_id
  FROM leaf_values e JOIN locations_wide l USING (experiment_id, location) WHERE l.reason <> ''
),
subjects AS (
  SELECT r.*, CASE WHEN NOT r.nowhere AND f.kind <> 'unknown' THEN 'instruction' ELSE 'function' END AS subject
  FROM reasons r LEFT JOIN functions f USING (experiment_id, function_id)
),
of_data AS (
  SELECT v.experiment_id, v.metric, o.descriptor AS reason, v.location_id, v.samples, v.value
  FROM data_values_wide v JOIN data_objects o USING (experiment_id, data_object_id)
  WHERE o.kind IN ('unknown', 'unknown_element')
),
sums AS (
  SELECT experiment_id, mode, metric, reason, nowhere, load_object_id, subject, sum(samples) AS samples, sum(value) AS value
  FROM subjects GROUP BY ALL
  UNION ALL
  SELECT d.experiment_id, m.mode, d.metric, d.reason, d.location_id IS NULL, l.load_object_id, 'data object', sum(d.samples), sum(d.value)
  FROM of_data d LEFT JOIN locations_wide l USING (experiment_id, location_id) CROSS JOIN modes m
  GROUP BY ALL
)
SELECT v.experiment_id, n.experiment, v.mode, v.metric, t.unit, v.reason,
  CASE WHEN v.nowhere THEN '' ELSE o.name END AS load_object,
  sum(v.samples)::BIGINT AS samples, sum(v.value)::BIGINT AS value, v.subject
FROM sums v
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN load_objects o USING (experiment_id, load_object_id)
GROUP BY ALL
