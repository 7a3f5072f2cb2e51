-- row: one level of inlining at an instruction: the instruction's function, or a function inlined there
-- rules: S10
--
-- experiment_id = locations.experiment_id
-- location = locations.location
-- location_id = locations.location_id
-- level INTEGER: 0 is the instruction's function; the inlined functions follow, the outermost first.
-- function_id = functions.function_id: The function of the level.
-- file = locations.file: The source file of the place reached in the level's function: of the call of the next level or, at the last level, of the instruction itself.
-- line = locations.line: The line of that place in `file`.
-- innermost BOOLEAN: Whether this is the instruction's last level.
-- path VARCHAR: The inlined functions from the outermost to that of this level, each with the line reached in it; empty at level 0.
--
-- invariant numbered: Instructions are numbered from 0 without gaps, and `pc_values` refers only to existing ones.
--   SELECT experiment_id, count(*), min(location), max(location) FROM locations GROUP BY ALL
--   HAVING min(location) <> 0 OR max(location) <> count(*) - 1 OR count(DISTINCT location) <> count(*)
--   UNION ALL
--   SELECT experiment_id, 0, location, location FROM pc_values ANTI JOIN locations USING (experiment_id, location)
-- invariant apart: No two instructions have the same identifier.
--   SELECT experiment_id, location_id, count(*) FROM locations_wide GROUP BY ALL HAVING count(*) > 1
-- invariant locations_known: Every inlined function belongs to an existing instruction, and the levels are numbered without gaps.
--   SELECT i.experiment_id, i.location FROM inline_frames_wide i ANTI JOIN locations l USING (experiment_id, location)
--   UNION ALL
--   SELECT experiment_id, location FROM inline_frames_wide GROUP BY ALL HAVING max(depth) <> count(*) - 1 OR count(DISTINCT depth) <> count(*)
-- invariant functions_known: Every inlined function is in `functions`.
--   SELECT i.* FROM inline_frames_wide i WHERE function_id IS NULL
SELECT * EXCLUDE (step), level = max(level) OVER (PARTITION BY experiment_id, location) AS innermost,
  COALESCE(string_agg(step, ' > ') OVER (PARTITION BY experiment_id, location ORDER BY level), '') AS path
FROM (
  SELECT experiment_id, location, location_id, 0 AS level, function_id, file, line, NULL AS step FROM locations_wide
  UNION ALL
  SELECT experiment_id, location, location_id, depth + 1, function_id, file, line, "function" || ':' || line FROM inline_frames_wide
)
