-- row: one place in code that was inlined at a source line: the parts of the line's values
-- rules: S10
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- file = source_values.file: The file of the line that calls the outermost inlined function, as in `source`.
-- line = source_values.line: That line.
-- depth = inline_frames.depth: 0 for a function called on the line itself.
-- path VARCHAR: The inlined functions from the line to here, each with the line reached in it; sorted by it, rows stand below the rows of the calls around them.
-- function = inline_frames.function
-- inlined_file = inline_frames.file: The source file of the place, empty if unknown.
-- inlined_line = inline_frames.line: The line there.
-- exclusive = source_values.exclusive: The value of the samples whose leaf is here, not in anything inlined deeper.
-- inclusive = source_values.inclusive: The value of the samples whose stack passes here, each counted once.
--
-- invariant names: Every row has its experiment and unit.
--   SELECT * FROM source_inlined WHERE experiment IS NULL OR unit IS NULL
-- invariant one_row: A place has one row for each mode and metric.
--   SELECT experiment_id, mode, metric, file, line, path, inlined_file, count(*) FROM source_inlined GROUP BY ALL HAVING count(*) > 1
-- invariant parts: What was inlined at a line has no more exclusive value than the line.
--   SELECT experiment_id, mode, metric, file, line, sum(line_value), sum(inlined) FROM (
--     SELECT experiment_id, mode, metric, file, line, exclusive AS line_value, 0 AS inlined FROM source
--     UNION ALL
--     SELECT experiment_id, mode, metric, file, line, 0, exclusive FROM source_inlined
--   ) GROUP BY ALL HAVING sum(inlined) > sum(line_value)
WITH names AS MATERIALIZED (
  SELECT experiment_id, location_id, depth, "function", file, line,
    depth = max(depth) OVER (PARTITION BY experiment_id, location_id) AS innermost,
    string_agg("function" || ':' || line, ' > ') OVER (PARTITION BY experiment_id, location_id ORDER BY depth) AS path
  FROM inline_frames
),
levels AS MATERIALIZED (
  SELECT l.experiment_id, l.location_id, l.file, l.line, n.depth, n.path, n."function", n.file AS inlined_file, n.line AS inlined_line, n.innermost
  FROM locations l JOIN names n USING (experiment_id, location_id)
  WHERE l.file <> ''
),
held AS MATERIALIZED (
  SELECT f.experiment_id, f.stack_id, l.file, l.line, l.depth, l.path, l."function", l.inlined_file, l.inlined_line,
    bool_or(f.position = 0 AND l.innermost) AS leaf
  FROM frames f JOIN levels l USING (experiment_id, location_id)
  GROUP BY ALL
)
SELECT v.experiment_id, v.experiment, v.mode, v.metric, v.unit, h.file, h.line, h.depth, h.path, h."function", h.inlined_file, h.inlined_line,
  sum(CASE WHEN h.leaf THEN v.value ELSE 0 END)::BIGINT AS exclusive, sum(v.value)::BIGINT AS inclusive
FROM stack_metrics v JOIN held h USING (experiment_id, stack_id)
GROUP BY ALL
