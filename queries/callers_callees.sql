-- row: one caller or callee of one function, or the function itself with its exclusive value
-- rules: S12, S16, S19, S22, S23, S24, S26
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- function_id = call_values.function_id
-- function = functions.name
-- relation = call_values.relation: `caller`, `self` or `callee`.
-- other_id = call_values.other_id
-- other = functions.name: The name of the caller or callee; for `self`, of the function itself.
-- attributed = call_values.attributed: The part of the function's inclusive value that came from the caller or went to the callee; for `self`, the function's exclusive value.
--
-- invariant names: Every row's experiment, unit and functions exist.
--   SELECT * FROM callers_callees WHERE experiment IS NULL OR unit IS NULL OR function IS NULL OR other IS NULL
-- invariant one_row: A caller or callee of a function has one row for each mode, metric and relation.
--   SELECT experiment_id, mode, metric, function_id, relation, other_id, count(*) FROM callers_callees GROUP BY ALL HAVING count(*) > 1
-- invariant tree_recomputed: The values, also with inlined functions, equal those computed from the call tree: a stack with several frames of the function counts for the caller and the callee of the frame nearest to the leaf.
--   SELECT experiment_id, metric, mode, inlined, function_id, relation, other_id, sum(attributed), sum(found) FROM (
--     SELECT v.experiment_id, v.metric, m.mode, m.inlined, v.function_id, v.relation, v.other_id, v.attributed, 0 AS found
--     FROM call_values_wide v JOIN (FROM modes CROSS JOIN (VALUES (false), (true)) AS i(inlined)) m ON by_mode_and_inlined(m.mode, m.inlined, v.in_user, v.in_expert, v.in_machine, v.in_user_inlined, v.in_expert_inlined, v.in_machine_inlined)
--     UNION ALL
--     SELECT experiment_id, metric, mode, inlined, function_id, relation, other_id, 0, attributed FROM tree_calls
--   ) GROUP BY ALL HAVING sum(attributed) <> sum(found)
-- invariant self: The value of `self` is the function's exclusive value.
--   SELECT c.experiment_id, c.mode, c.metric, c.function_id, c.attributed, f.exclusive
--   FROM callers_callees c JOIN function_metrics f USING (experiment_id, mode, metric, function_id)
--   WHERE c.relation = 'self' AND (f.function <> '<Total>' OR f.kind <> 'artificial') AND c.attributed <> f.exclusive
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  f.function_id, f.name AS "function", v.relation, g.function_id AS other_id, g.name AS other, v.attributed
FROM call_values v
JOIN experiment_names n USING (experiment_id) -- joined first: see function_metrics
JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN functions f USING (experiment_id, function_no)
LEFT JOIN functions g ON g.experiment_id = v.experiment_id AND g.function_no = v.other_no
