-- row: one load object
-- rules: S1, S5
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- load_object = load_objects.name
-- exclusive = object_values.exclusive
-- inclusive = object_values.inclusive
-- load_object_id = object_values.load_object_id
-- path = load_objects.path
--
-- invariant names: Every row has its experiment, unit and load object.
--   SELECT * FROM load_object_metrics WHERE experiment IS NULL OR unit IS NULL OR load_object IS NULL
-- invariant stacks_recomputed: The values are those of the stacks whose leaf is in the load object, and of those that pass it, each once.
--   SELECT experiment_id, mode, metric, load_object_id, sum(exclusive), sum(leaf), sum(inclusive), sum(anywhere) FROM (
--     SELECT experiment_id, mode, metric, load_object_id, exclusive, inclusive, 0 AS leaf, 0 AS anywhere
--     FROM load_object_metrics
--     UNION ALL
--     SELECT v.experiment_id, v.mode, v.metric, p.load_object_id, 0, 0, sum(CASE WHEN p.leaf THEN v.value ELSE 0 END), sum(v.value)
--     FROM stack_metrics v JOIN (
--       SELECT f.experiment_id, f.stack_id, g.load_object_id, bool_or(f.position = 0) AS leaf
--       FROM frames f JOIN functions g USING (experiment_id, function_id) GROUP BY ALL
--     ) p USING (experiment_id, stack_id) GROUP BY ALL
--   ) GROUP BY ALL HAVING sum(exclusive) <> sum(leaf) OR sum(inclusive) <> sum(anywhere)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  o.name AS load_object, v.exclusive, v.inclusive, v.load_object_id, o.path
FROM object_values v
JOIN modes m ON v.modes & m.bit <> 0
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN load_objects o USING (experiment_id, load_object_id)
