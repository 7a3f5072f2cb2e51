-- row: one caller, in one experiment, of a function with the given name: `FROM callers_of('malloc')`
-- rules: S12, S16, S22, S23, S24, S26
--
-- parameter callee VARCHAR: The function's name, or a pattern of names with `*` and `?`.
-- parameter of_metric VARCHAR = NULL: The metric; by default each experiment's default metric.
-- parameter in_mode VARCHAR = 'user': The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- function_id BIGINT: The function that is called.
-- function = functions.name
-- caller_id BIGINT: The caller.
-- caller VARCHAR: The caller's name; `<Total>` if the function is the root of its stacks.
-- attributed BIGINT: [the metric's] The part of the called function's inclusive value that came from this caller.
-- percent DOUBLE: `attributed` as a percentage of the sum over all callers.
SELECT c.experiment_id, c.experiment, c.mode, c.metric, c.unit, c.function_id, c."function", c.other_id AS caller_id, c.other AS caller, c.attributed,
  round(100.0 * c.attributed / NULLIF(sum(c.attributed) OVER (PARTITION BY c.experiment_id, c.metric, c.function_id), 0), 2) AS percent
FROM callers_callees c JOIN default_metrics d USING (experiment_id)
WHERE c.relation = 'caller' AND c.mode = in_mode::VARCHAR AND c.metric = COALESCE(of_metric::VARCHAR, d.metric)
  AND (c."function" = callee::VARCHAR OR c."function" GLOB callee::VARCHAR)
ORDER BY c.experiment, c.metric, c."function", c.function_id, c.attributed DESC, caller, caller_id
