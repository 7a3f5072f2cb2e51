-- row: one function in all experiments together, or `<Total>`: computed from sums that are stored with each batch, for questions about the whole store
-- rules: S3, S4, S5, S6, S9, S11, S13, S15, S19
--
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = function_rollup.metric
-- unit = function_rollup.unit
-- function_key = function_rollup.function_key
-- function = function_rollup.function
-- load_object = function_rollup.load_object
-- module = function_rollup.module
-- kind = function_rollup.kind
-- exclusive BIGINT: [the metric's] The sum of the exclusive values of all experiments.
-- inclusive BIGINT: [the metric's] The sum of the inclusive values of all experiments.
--
-- invariant sums: The sums equal those over `function_trends`.
--   SELECT mode, metric, function_key, "function", sum(exclusive), sum(inclusive) FROM (
--     SELECT mode, metric, unit, function_key, "function", load_object, module, kind, exclusive, inclusive FROM function_totals
--     UNION ALL
--     SELECT mode, metric, unit, function_key, "function", load_object, module, kind, -exclusive, -inclusive FROM function_trends
--   ) GROUP BY mode, metric, unit, function_key, "function", load_object, module, kind HAVING sum(exclusive) <> 0 OR sum(inclusive) <> 0
SELECT m.mode, v.metric, v.unit, v.function_key, v.function, v.load_object, v.module, v.kind,
  sum(v.exclusive)::BIGINT AS exclusive, sum(v.inclusive)::BIGINT AS inclusive
FROM function_sums v
JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine)
GROUP BY ALL
