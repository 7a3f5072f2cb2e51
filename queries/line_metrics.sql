-- row: one source line of one function; all its instructions without line numbers together are one row with an empty file
-- rules: S3, S9, S10, S21
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- function_id = line_values.function_id
-- function = functions.name
-- file = line_values.file
-- line = line_values.line
-- exclusive = line_values.exclusive
-- inclusive = line_values.inclusive
--
-- invariant names: Every row has its experiment, unit and function.
--   SELECT * FROM line_metrics WHERE experiment IS NULL OR unit IS NULL OR function IS NULL
-- invariant no_file_no_line: A row without a file has no line.
--   SELECT * FROM line_metrics WHERE file = '' AND line <> 0
-- invariant stacks_recomputed: The values are those of the stacks whose leaf is on the line, and of those that contain it, each once.
--   SELECT experiment_id, mode, metric, function_id, file, line, sum(exclusive), sum(leaf), sum(inclusive), sum(anywhere) FROM (
--     SELECT experiment_id, mode, metric, function_id, file, line, exclusive, inclusive, 0 AS leaf, 0 AS anywhere
--     FROM line_metrics
--     UNION ALL
--     SELECT v.experiment_id, v.mode, v.metric, p.function_id, p.file, p.line, 0, 0, sum(CASE WHEN p.leaf THEN v.value ELSE 0 END), sum(v.value)
--     FROM stack_metrics v JOIN (
--       SELECT f.experiment_id, f.stack_id, f.function_id, l.file, CASE WHEN l.file = '' THEN 0 ELSE l.line END AS line, bool_or(f.position = 0) AS leaf
--       FROM frames f JOIN locations l USING (experiment_id, location_id) GROUP BY ALL
--     ) p USING (experiment_id, stack_id) GROUP BY ALL
--   ) GROUP BY ALL HAVING sum(exclusive) <> sum(leaf) OR sum(inclusive) <> sum(anywhere)
SELECT v.experiment_id, n.experiment, m.mode, v.metric, t.unit,
  v.function_id, f.name AS "function", v.file, v.line, v.exclusive, v.inclusive
FROM line_values v
JOIN modes m ON v.modes & m.bit <> 0
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN functions f USING (experiment_id, function_id)
