-- row: one module (compilation unit)
-- rules: S3, S5
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- load_object = load_objects.name
-- module = modules.name
-- exclusive = module_values.exclusive
-- inclusive = module_values.inclusive
-- module_id = module_values.module_id
--
-- invariant names: Every row's experiment, unit, load object and module exist.
--   SELECT * FROM module_metrics WHERE experiment IS NULL OR unit IS NULL OR load_object IS NULL OR module IS NULL
-- invariant stacks_recomputed: The values are the sums over the stacks whose leaf is in the module, and over the stacks that contain it, each once.
--   SELECT experiment_id, mode, metric, key, sum(exclusive), sum(ending), sum(inclusive), sum(passing) FROM (
--     SELECT experiment_id, mode, metric, module_id AS key, exclusive, inclusive, 0 AS ending, 0 AS passing FROM module_metrics
--     UNION ALL
--     SELECT experiment_id, mode, metric, key, 0, 0, exclusive, inclusive FROM passing('module')
--   ) GROUP BY ALL HAVING sum(exclusive) <> sum(ending) OR sum(inclusive) <> sum(passing)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  o.name AS load_object, u.name AS module, v.exclusive, v.inclusive, v.module_id
FROM module_values v
JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine)
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN modules u USING (experiment_id, module_id)
LEFT JOIN load_objects o USING (experiment_id, load_object_id)
