-- row: one instruction on a stack, in the innermost function inlined there
-- rules: S10
-- like: pc_metrics
--
-- invariant same_values: Every row of `pc_metrics` has a row here, with the same values.
--   SELECT experiment_id, mode, metric, location_id, p.exclusive, i.exclusive
--   FROM pc_metrics p FULL JOIN inline_pc_metrics i USING (experiment_id, mode, metric, location_id)
--   WHERE p.exclusive IS DISTINCT FROM i.exclusive OR p.inclusive IS DISTINCT FROM i.inclusive
WITH innermost AS (
  SELECT l.experiment_id, l.location_id, l.function_id, f.name, l.file, l.line
  FROM location_levels l JOIN functions f USING (experiment_id, function_id)
  WHERE l.innermost
)
SELECT p.* REPLACE (i.function_id AS function_id, i.name AS "function", i.file AS file, i.line AS line)
FROM pc_metrics p JOIN innermost i USING (experiment_id, location_id)
