-- row: one instruction on a stack
-- rules: S1, S2, S21, S22
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- function_id = locations.function_id
-- function = functions.name
-- load_object = load_objects.name
-- code_offset = locations.offset
-- file = locations.file
-- line = locations.line
-- exclusive = pc_values.exclusive
-- inclusive = pc_values.inclusive
-- location_id = locations.location_id: The instruction.
--
-- invariant names: Every row's experiment, unit, function and load object exist.
--   SELECT * FROM pc_metrics WHERE experiment IS NULL OR unit IS NULL OR function IS NULL OR load_object IS NULL
-- invariant stacks_recomputed: The values are the sums over the stacks whose leaf is the instruction, and over the stacks that contain it, each once.
--   SELECT experiment_id, mode, metric, key, sum(exclusive), sum(ending), sum(inclusive), sum(passing) FROM (
--     SELECT experiment_id, mode, metric, location_id AS key, exclusive, inclusive, 0 AS ending, 0 AS passing FROM pc_metrics
--     UNION ALL
--     SELECT experiment_id, mode, metric, key, 0, 0, exclusive, inclusive FROM passing('instruction')
--   ) GROUP BY ALL HAVING sum(exclusive) <> sum(ending) OR sum(inclusive) <> sum(passing)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  l.function_id, f.name AS "function", o.name AS load_object, l."offset" AS code_offset, l.file, l.line,
  v.exclusive, v.inclusive, l.location_id
FROM pc_values v
JOIN experiment_names n USING (experiment_id) -- joined first: see function_metrics
JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN locations_wide l USING (experiment_id, location)
LEFT JOIN functions f USING (experiment_id, function_id)
LEFT JOIN load_objects o ON o.experiment_id = v.experiment_id AND o.load_object_id = l.load_object_id
