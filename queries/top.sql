-- row: one of the n functions with the highest exclusive values in one experiment: `FROM top(5)`
-- rules: S19
--
-- parameter n INTEGER = 10: How many functions to return for each experiment.
-- parameter of_metric VARCHAR = NULL: The metric; by default each experiment's default metric.
-- parameter in_mode VARCHAR = 'user': The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- rank BIGINT: The rank of the function in its experiment; 1 has the highest exclusive value.
-- function_id = functions.function_id
-- function = functions.name
-- load_object = load_objects.name
-- exclusive = function_values.exclusive
-- exclusive_percent DOUBLE: The exclusive value as a percentage of `<Total>`.
-- inclusive = function_values.inclusive
-- inclusive_percent DOUBLE: The inclusive value as a percentage of `<Total>`.
WITH valued AS (
  SELECT v.*, max(v.inclusive) FILTER (v.function = '<Total>' AND v.kind = 'artificial') OVER (PARTITION BY v.experiment_id, v.metric) AS total
  FROM function_metrics v JOIN default_metrics d USING (experiment_id)
  WHERE v.mode = in_mode::VARCHAR AND v.metric = COALESCE(of_metric::VARCHAR, d.metric)
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY experiment_id, experiment, metric ORDER BY exclusive DESC, inclusive DESC, function, function_id) AS rank
  FROM valued WHERE function <> '<Total>' OR kind <> 'artificial'
)
SELECT experiment_id, experiment, mode, metric, unit, rank, function_id, "function", load_object,
  exclusive, round(100.0 * exclusive / NULLIF(total, 0), 2) AS exclusive_percent,
  inclusive, round(100.0 * inclusive / NULLIF(total, 0), 2) AS inclusive_percent
FROM ranked WHERE rank <= n::BIGINT ORDER BY experiment, metric, rank
