-- row: one place in code that the compiler inlined at a source line, with the part of the line's values that belongs to it
-- rules: S10
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- file = source_values.file: The file of the line that calls the outermost inlined function, as in `source`.
-- line = source_values.line: The line that calls the outermost inlined function.
-- depth = inline_frames.depth: How deeply the code is inlined: 0 if the line itself calls its function, 1 if a function inlined there does, and so on.
-- path VARCHAR: The inlined functions from the line to the place, outermost first, each with the line reached in it. Rows sorted by path are in the order of nesting.
-- function = inline_frames.function
-- inlined_file = inline_frames.file: The source file of the inlined code; empty if unknown.
-- inlined_line = inline_frames.line: The line of the place in `inlined_file`.
-- exclusive = source_values.exclusive: The value of the samples whose leaf is at the place itself, not in code inlined there.
-- inclusive = source_values.inclusive: The value of the samples whose stack contains the place, each sample counted once.
--
-- invariant one_row: Every row's experiment and unit exist; a place has one row for each mode and metric.
--   SELECT experiment_id, mode, metric, file, line, path, inlined_file, count(*) FROM source_inlined GROUP BY ALL
--   HAVING count(*) > 1 OR count(experiment) < count(*) OR count(unit) < count(*)
-- invariant parts: The exclusive values of the code inlined at a line sum to at most the line's exclusive value, unless values are negative.
--   SELECT experiment_id, mode, metric, file, line, sum(line_value), sum(inlined) FROM (
--     SELECT experiment_id, mode, metric, file, line, exclusive AS line_value, 0 AS inlined FROM source
--     UNION ALL
--     SELECT experiment_id, mode, metric, file, line, 0, exclusive FROM source_inlined
--   ) ANTI JOIN (SELECT DISTINCT experiment_id, metric FROM stack_values WHERE value < 0) USING (experiment_id, metric)
--   GROUP BY ALL HAVING sum(inlined) > sum(line_value)
WITH places AS (
  SELECT DISTINCT v.experiment_id, (hash(l.file, l.line, v.path, v.file) >> 1)::BIGINT AS key,
    l.file, l.line, v.level - 1 AS depth, v.path, i."function", v.file AS inlined_file, v.line AS inlined_line
  FROM location_levels v JOIN inline_frames_wide i ON i.experiment_id = v.experiment_id AND i.location = v.location AND i.depth = v.level - 1
  JOIN locations l ON l.experiment_id = v.experiment_id AND l.location = v.location
  WHERE v.level > 0 AND l.file <> ''
),
found AS (
  SELECT p.*, v.mode, v.metric, sum(v.exclusive)::BIGINT AS exclusive, sum(v.inclusive)::BIGINT AS inclusive
  FROM places p JOIN passing('inlined place') v USING (experiment_id, key)
  GROUP BY ALL
)
SELECT v.experiment_id, n.experiment, v.mode, v.metric, t.unit, v.file, v.line, v.depth, v.path, v."function", v.inlined_file, v.inlined_line,
  v.exclusive, v.inclusive
FROM found v
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
