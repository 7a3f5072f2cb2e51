-- row: one function, or `<Total>`, in two experiments or two groups of experiments: `FROM compare_functions('monday.er', 'tuesday.er')`; functions of different builds are the same if they have the same `function_key`
-- rules: S19
--
-- parameter base VARCHAR: The experiments to compare with, as in `chosen`.
-- parameter test VARCHAR: The experiments to compare, as in `chosen`.
-- parameter of_metric VARCHAR = NULL: The metric; by default each experiment's default metric.
-- parameter in_mode VARCHAR = 'user': The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
--
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- function_key = function_rollup.function_key
-- function = functions.name
-- load_object = load_objects.name
-- base_experiments BIGINT: [count] The number of experiments of the base with this metric.
-- test_experiments BIGINT: [count] The number of experiments of the test with this metric.
-- base_exclusive DOUBLE: [the metric's] The mean exclusive value over the experiments of the base; an experiment without the function counts as 0.
-- test_exclusive DOUBLE: [the metric's] The mean exclusive value over the experiments of the test.
-- difference DOUBLE: [the metric's] The test's value minus the base's.
-- ratio DOUBLE: The test's exclusive value divided by the base's; missing if the base has none.
-- base_inclusive DOUBLE: [the metric's] The mean inclusive value over the experiments of the base.
-- test_inclusive DOUBLE: [the metric's] The mean inclusive value over the experiments of the test.
-- inclusive_difference DOUBLE: [the metric's] The test's value minus the base's.
WITH sides AS (
  SELECT experiment_id, true AS tested FROM chosen(test)
  UNION ALL
  SELECT experiment_id, false FROM chosen(base)
),
measured AS (
  SELECT s.experiment_id, s.tested, m.metric, m.unit
  FROM sides s JOIN metrics m USING (experiment_id) JOIN default_metrics d USING (experiment_id)
  WHERE m.metric = COALESCE(of_metric::VARCHAR, d.metric)
),
runs AS (
  SELECT metric, min(unit) AS unit, count(*) FILTER (NOT tested) AS base_n, count(*) FILTER (tested) AS test_n FROM measured GROUP BY metric
),
summed AS (
  SELECT s.metric, v.function_key, max(v.function) AS "function", max(v.load_object) AS load_object,
    COALESCE(sum(v.exclusive) FILTER (NOT s.tested), 0) AS be, COALESCE(sum(v.exclusive) FILTER (s.tested), 0) AS te,
    COALESCE(sum(v.inclusive) FILTER (NOT s.tested), 0) AS bi, COALESCE(sum(v.inclusive) FILTER (s.tested), 0) AS ti
  FROM function_rollup v JOIN measured s ON s.experiment_id = v.experiment_id AND s.metric = v.metric
  JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine) AND m.mode = in_mode::VARCHAR
  GROUP BY s.metric, v.function_key
),
averages AS (
  SELECT r.*, s.function_key, s."function", s.load_object,
    be / NULLIF(base_n, 0) AS be, te / NULLIF(test_n, 0) AS te, bi / NULLIF(base_n, 0) AS bi, ti / NULLIF(test_n, 0) AS ti
  FROM summed s JOIN runs r USING (metric)
)
SELECT in_mode::VARCHAR AS mode, metric, unit, function_key, "function", load_object, base_n AS base_experiments, test_n AS test_experiments,
  be AS base_exclusive, te AS test_exclusive, te - be AS difference, te / NULLIF(be, 0) AS ratio,
  bi AS base_inclusive, ti AS test_inclusive, ti - bi AS inclusive_difference
FROM averages ORDER BY metric, abs(te - be) DESC, "function", function_key
