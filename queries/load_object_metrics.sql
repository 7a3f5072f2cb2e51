-- row: one load object
-- rules: S1, S5
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- load_object = load_objects.name
-- exclusive = object_values.exclusive
-- inclusive = object_values.inclusive
-- load_object_id = object_values.load_object_id
-- path = load_objects.path
--
-- invariant names: Every row's experiment, unit and load object exist.
--   SELECT * FROM load_object_metrics WHERE experiment IS NULL OR unit IS NULL OR load_object IS NULL
-- invariant stacks_recomputed: The values are the sums over the stacks whose leaf is in the load object, and over the stacks that contain it, each once.
--   SELECT experiment_id, mode, metric, key, sum(exclusive), sum(ending), sum(inclusive), sum(passing) FROM (
--     SELECT experiment_id, mode, metric, load_object_id AS key, exclusive, inclusive, 0 AS ending, 0 AS passing FROM load_object_metrics
--     UNION ALL
--     SELECT experiment_id, mode, metric, key, 0, 0, exclusive, inclusive FROM passing('load object')
--   ) GROUP BY ALL HAVING sum(exclusive) <> sum(ending) OR sum(inclusive) <> sum(passing)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  o.name AS load_object, v.exclusive, v.inclusive, v.load_object_id, o.path
FROM object_values v
JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine)
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN load_objects o USING (experiment_id, load_object_id)
