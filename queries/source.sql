-- row: one source line of a file in which a line has a value: each line of the file's text or, if that is missing, each line that is known to have code
-- rules: S3, S9, S10, S21
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- file = source_values.file: The path, as the debug information gives it.
-- line = source_values.line: The line number, from 1; 0 for code of the file that has no line number.
-- text = source_lines.text: The line's text; missing if the file was not found.
-- functions VARCHAR: The functions that start on the line, separated by commas; empty if there are none.
-- exclusive = source_values.exclusive: The value of the samples whose leaf is on the line, in any function; 0 if there are none.
-- inclusive = source_values.inclusive: The value of the samples whose stack contains the line, each counted once.
-- high BOOLEAN: Whether the exclusive or the inclusive value is at least 75 % of the highest such value in the file.
-- has_code BOOLEAN: Whether a known instruction belongs to the line.
--
-- invariant one_row: Every row's experiment and unit exist; a line has one row for each mode and metric.
--   SELECT experiment_id, mode, metric, file, line, count(*) FROM source GROUP BY ALL
--   HAVING count(*) > 1 OR count(experiment) < count(*) OR count(unit) < count(*)
-- invariant found: Every source file that was found has its lines in `source_lines`.
--   SELECT experiment_id, file, listed_in, listing FROM source_files ANTI JOIN source_lines_wide USING (experiment_id, file)
-- invariant functions_sum: The exclusive value is the sum of the exclusive values of the functions with code on the line.
--   SELECT experiment_id, mode, metric, file, line, sum(lines), sum(found) FROM (
--     SELECT experiment_id, mode, metric, file, line, exclusive AS lines, 0 AS found FROM line_metrics WHERE file <> ''
--     UNION ALL
--     SELECT experiment_id, mode, metric, file, line, 0, exclusive FROM source
--   ) GROUP BY ALL HAVING sum(lines) <> sum(found)
-- invariant stacks_recomputed: The values are the sums over the stacks whose leaf is on the line, and over the stacks that contain it, each once.
--   SELECT experiment_id, mode, metric, key, sum(exclusive), sum(ending), sum(inclusive), sum(passing) FROM (
--     SELECT experiment_id, mode, metric, (hash(file, line) >> 1)::BIGINT AS key, exclusive, inclusive, 0 AS ending, 0 AS passing FROM source
--     UNION ALL
--     SELECT experiment_id, mode, metric, (hash(file, line) >> 1)::BIGINT, exclusive, inclusive, 0, 0 FROM source_values v JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine) WHERE file = '' -- which the view leaves out
--     UNION ALL
--     SELECT experiment_id, mode, metric, key, 0, 0, exclusive, inclusive FROM passing('source line')
--   ) GROUP BY ALL HAVING sum(exclusive) <> sum(ending) OR sum(inclusive) <> sum(passing)
WITH
-- There is no condition on the file, because that would keep a filter by experiment from the scan.
-- Rows without a file match no line anyway.
found AS (
  SELECT v.experiment_id, m.mode, v.metric, v.file, v.line, v.exclusive, v.inclusive
  FROM source_values v JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine)
),
files AS (
  SELECT experiment_id, mode, metric, file, max(exclusive) AS highest, max(inclusive) AS highest_inclusive
  FROM found GROUP BY ALL
),
-- Rows of lists are made distinct before the experiments are joined, because these share the
-- lists.
listed AS (
  SELECT DISTINCT listed_in, listing, file, line FROM instructions_rows() WHERE file <> ''
),
code AS (
  SELECT k.experiment_id, i.file, i.line FROM listings k JOIN listed i USING (listed_in, listing)
  UNION
  SELECT experiment_id, file, line FROM source_values WHERE file <> ''
),
lines AS (
  SELECT experiment_id, file, line, t.text, c.file IS NOT NULL AS has_code
  FROM source_lines_wide t FULL JOIN code c USING (experiment_id, file, line)
),
-- A left join keeps the optimizer from joining lists with instructions first.
begun AS (
  SELECT f.experiment_id, f.name, f.kind, f."offset", k.listed_in, k.listing FROM functions f LEFT JOIN listings k USING (experiment_id, function_no)
),
starts AS (
  SELECT f.experiment_id, m.mode, i.file, i.line, string_agg(DISTINCT f.name, ', ' ORDER BY f.name) AS names
  FROM begun f JOIN instructions_rows() i ON i.listed_in = f.listed_in AND i.listing = f.listing AND i."offset" = f."offset"
  JOIN modes m ON m.mode <> 'user' OR f.kind <> 'body'
  WHERE i.file <> ''
  GROUP BY ALL
),
-- Joined in steps, as in unattributed.
named AS (
  SELECT f.*, n.experiment, t.unit
  FROM files f LEFT JOIN experiment_names n USING (experiment_id) LEFT JOIN metrics t USING (experiment_id, metric)
)
SELECT f.experiment_id, f.experiment, f.mode, f.metric, f.unit, f.file, l.line, l.text, COALESCE(s.names, '') AS functions,
  COALESCE(v.exclusive, 0) AS exclusive, COALESCE(v.inclusive, 0) AS inclusive,
  COALESCE(v.exclusive > 0 AND v.exclusive >= 0.75 * f.highest OR v.inclusive > 0 AND v.inclusive >= 0.75 * f.highest_inclusive, false) AS high,
  l.has_code
FROM named f
JOIN lines l USING (experiment_id, file)
LEFT JOIN found v ON v.experiment_id = f.experiment_id AND v.mode = f.mode AND v.metric = f.metric AND v.file = f.file AND v.line = l.line
LEFT JOIN starts s ON s.experiment_id = f.experiment_id AND s.mode = f.mode AND s.file = f.file AND s.line = l.line
