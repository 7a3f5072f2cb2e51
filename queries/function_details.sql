-- row: one metric of one function, with everything that is known about the function
-- rules: S4, S5
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- function_id = functions.function_id
-- function = functions.name
-- load_object = load_objects.name
-- title = metrics.title
-- exclusive = function_values.exclusive
-- inclusive = function_values.inclusive
-- size = functions.size
-- address = functions.address
-- module = modules.name: The source file of the function's compilation unit.
-- object_path = load_objects.path: The path of the function's load object.
-- linkage_name = functions.linkage_name
-- aliases = functions.aliases
-- kind = functions.kind
--
-- invariant same: The values equal those in `function_metrics`.
--   SELECT experiment_id, mode, metric, function_id, exclusive, inclusive FROM function_metrics
--   ANTI JOIN function_details USING (experiment_id, mode, metric, function_id, exclusive, inclusive)
SELECT v.experiment_id, v.experiment, v.mode, v.metric, v.unit, v.function_id, v."function", v.load_object, t.title, v.exclusive, v.inclusive,
  f.size, f.address, v.module, o.path AS object_path, f.linkage_name, f.aliases, f.kind
FROM function_metrics v
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN functions_wide f USING (experiment_id, function_id)
LEFT JOIN load_objects o USING (experiment_id, load_object_id)
