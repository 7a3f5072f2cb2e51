-- row: one function in one experiment, or `<Total>`, as in `function_metrics`, but fast for questions about one function in many experiments: the underlying table has a function's rows of all experiments in one place (`function_totals` has their sums)
-- rules: S3, S4, S5, S6, S9, S11, S13, S15, S19
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- function_id = function_rollup.function_id
-- function_key = function_rollup.function_key
-- function = function_rollup.function
-- load_object = function_rollup.load_object
-- module = function_rollup.module
-- kind = function_rollup.kind
-- exclusive = function_rollup.exclusive
-- inclusive = function_rollup.inclusive
--
-- invariant names: Every row's experiment and unit exist.
--   SELECT v.* FROM function_trends v LEFT JOIN metrics t USING (experiment_id, metric) WHERE v.experiment IS NULL OR v.unit IS DISTINCT FROM t.unit
-- invariant one_key: No two functions of an experiment have the same key.
--   SELECT experiment_id, function_key, count(DISTINCT function_id) FROM function_rollup GROUP BY ALL HAVING count(DISTINCT function_id) > 1
SELECT v.experiment_id, n.experiment, m.mode, v.metric, v.unit,
  v.function_id, v.function_key, v.function, v.load_object, v.module, v.kind, v.exclusive, v.inclusive
FROM function_rollup v
JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine)
LEFT JOIN experiment_names n USING (experiment_id)
