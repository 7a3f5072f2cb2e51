-- row: one function in one experiment, or `<Total>`
-- rules: S3, S4, S5, S6, S9, S11, S13, S15, S19
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- function_id = functions.function_id
-- function_key = function_rollup.function_key
-- function = functions.name
-- load_object = load_objects.name
-- module = modules.name
-- address = functions.address
-- kind = functions.kind
-- exclusive = function_values.exclusive
-- inclusive = function_values.inclusive
--
-- invariant names: Every row's experiment, unit, function, load object and module exist.
--   SELECT v.* FROM function_values_wide v
--   LEFT JOIN experiment_names n USING (experiment_id)
--   LEFT JOIN metrics t USING (experiment_id, metric)
--   LEFT JOIN functions f USING (experiment_id, function_id)
--   LEFT JOIN load_objects o USING (experiment_id, load_object_id)
--   LEFT JOIN modules u USING (experiment_id, module_id)
--   WHERE n.experiment IS NULL OR t.unit IS NULL OR f.name IS NULL OR o.name IS NULL OR u.name IS NULL
-- invariant one_row: A function has one row for each mode and metric.
--   SELECT experiment_id, mode, metric, function_id, count(*) FROM function_metrics GROUP BY ALL HAVING count(*) > 1
-- invariant one_key: No two functions of an experiment have the same key.
--   SELECT experiment_id, function_key, count(*) FROM (
--     SELECT f.experiment_id, f.function_id, function_key(f.name_scope, f.function_id, o.short_path, u.short_path, f.linkage_name, f.name) AS function_key
--     FROM functions_wide f JOIN load_objects o USING (experiment_id, load_object_id) JOIN modules u USING (experiment_id, module_id)
--   ) GROUP BY ALL HAVING count(*) > 1
-- invariant one_total: Each mode and metric has at most one `<Total>`, whose exclusive and inclusive values are equal.
--   SELECT experiment_id, mode, metric, count(*) FROM function_metrics
--   WHERE function = '<Total>' AND kind = 'artificial'
--   GROUP BY ALL HAVING count(*) > 1 OR sum(exclusive) <> sum(inclusive)
-- invariant stacks_recomputed: The values are the sums over the stacks whose leaf is the function, and over the stacks that contain it, each once.
--   SELECT experiment_id, mode, metric, key, sum(exclusive), sum(ending), sum(inclusive), sum(passing) FROM (
--     SELECT experiment_id, mode, metric, function_id AS key, exclusive, inclusive, 0 AS ending, 0 AS passing FROM function_metrics WHERE function <> '<Total>' OR kind <> 'artificial'
--     UNION ALL
--     SELECT experiment_id, mode, metric, key, 0, 0, exclusive, inclusive FROM passing('function')
--   ) GROUP BY ALL HAVING sum(exclusive) <> sum(ending) OR sum(inclusive) <> sum(passing)
-- invariant rolled_up: `function_rollup` has the same values and the same names of functions.
--   SELECT experiment_id, metric, sum(expected) AS expected, sum(found) AS found, sum("same") AS same FROM (
--     SELECT experiment_id, metric, in_user::INTEGER + in_expert::INTEGER + in_machine::INTEGER + in_user_inlined::INTEGER + in_expert_inlined::INTEGER + in_machine_inlined::INTEGER AS expected, 0 AS found, 0 AS "same" FROM function_values_wide
--     UNION ALL
--     SELECT experiment_id, metric, 0, in_user::INTEGER + in_expert::INTEGER + in_machine::INTEGER + in_user_inlined::INTEGER + in_expert_inlined::INTEGER + in_machine_inlined::INTEGER, 0 FROM function_rollup SEMI JOIN functions_wide USING (experiment_id) -- a summary has no other table
--     UNION ALL
--     SELECT r.experiment_id, r.metric, 0, 0, (r.in_user AND v.in_user)::INTEGER + (r.in_expert AND v.in_expert)::INTEGER + (r.in_machine AND v.in_machine)::INTEGER + (r.in_user_inlined AND v.in_user_inlined)::INTEGER + (r.in_expert_inlined AND v.in_expert_inlined)::INTEGER + (r.in_machine_inlined AND v.in_machine_inlined)::INTEGER
--     FROM function_rollup r
--     JOIN function_values_wide v ON v.experiment_id = r.experiment_id AND v.metric = r.metric AND v.function_id = r.function_id AND v.exclusive = r.exclusive AND v.inclusive = r.inclusive
--     JOIN functions_wide f ON f.experiment_id = r.experiment_id AND f.function_id = r.function_id AND f.name = r.function AND f.kind = r.kind
--     JOIN load_objects o ON o.experiment_id = f.experiment_id AND o.load_object_id = f.load_object_id AND o.name = r.load_object
--     JOIN modules u ON u.experiment_id = f.experiment_id AND u.module_id = f.module_id AND u.name = r.module
--     WHERE r.function_key = function_key(f.name_scope, f.function_id, o.short_path, u.short_path, f.linkage_name, f.name)
--   ) GROUP BY ALL HAVING sum(expected) <> sum("same") OR sum(found) <> sum("same")
WITH named_functions AS ( -- joined here, so that a condition on the name also restricts the functions
  SELECT f.*, n.experiment FROM functions_wide f JOIN experiment_names n USING (experiment_id)
), named_modules AS (
  SELECT u.*, n.experiment FROM modules u JOIN experiment_names n USING (experiment_id)
)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  f.function_id, function_key(f.name_scope, f.function_id, o.short_path, u.short_path, f.linkage_name, f.name) AS function_key, f.name AS "function", o.name AS load_object, u.name AS module, f.address, f.kind,
  v.exclusive, v.inclusive
FROM function_values v
JOIN experiment_names n USING (experiment_id) -- joined first, so that a condition on the name restricts what is read of the other tables
JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine)
LEFT JOIN metrics t USING (experiment_id, metric)
JOIN named_functions f USING (experiment_id, experiment, function_no) -- inner joins, because the engine does not push the condition through left joins
JOIN load_objects o USING (experiment_id, load_object_id)
JOIN named_modules u USING (experiment_id, experiment, module_id)
