-- row: one source line of one function; all instructions of the function that have no line number form one row with an empty file
-- rules: S3, S9, S10, S21
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- function_id = line_values.function_id
-- function = functions.name
-- file = line_values.file
-- line = line_values.line
-- exclusive = line_values.exclusive
-- inclusive = line_values.inclusive
--
-- invariant names: Every row's experiment, unit and function exist.
--   SELECT * FROM line_metrics WHERE experiment IS NULL OR unit IS NULL OR function IS NULL
-- invariant no_file_no_line: A row without a file has line 0.
--   SELECT * FROM line_metrics WHERE file = '' AND line <> 0
-- invariant stacks_recomputed: The values are the sums over the stacks whose leaf is on the line, and over the stacks that contain it, each once.
--   SELECT experiment_id, mode, metric, key, sum(exclusive), sum(ending), sum(inclusive), sum(passing) FROM (
--     SELECT experiment_id, mode, metric, (hash(function_id, file, line) >> 1)::BIGINT AS key, exclusive, inclusive, 0 AS ending, 0 AS passing FROM line_metrics
--     UNION ALL
--     SELECT experiment_id, mode, metric, key, 0, 0, exclusive, inclusive FROM passing('line')
--   ) GROUP BY ALL HAVING sum(exclusive) <> sum(ending) OR sum(inclusive) <> sum(passing)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  f.function_id, f.name AS "function", v.file, v.line, v.exclusive, v.inclusive
FROM line_values v
JOIN experiment_names n USING (experiment_id) -- joined first: see function_metrics
JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN functions f USING (experiment_id, function_no)
