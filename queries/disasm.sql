-- row: one instruction of a function that has a value; `instructions` says which instructions of a function are there
-- rules: S1, S2, S11, S21, S22
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- function_id = functions.function_id: The function; in user mode, for the body of a parallel region, the function that contains the region in the source (S11).
-- function = functions.name
-- load_object = load_objects.name
-- code_offset = instructions.offset
-- address BIGINT: The instruction's link-time virtual address; for generated code, its offset.
-- size = instructions.size
-- text = instructions.text
-- target_name = instructions.target_name
-- file = instructions.file
-- line = instructions.line
-- exclusive = pc_values.exclusive: The value of the samples whose leaf is this instruction; 0 if there are none.
-- inclusive = pc_values.inclusive: The value of the samples whose stack contains this instruction, each counted once.
-- high BOOLEAN: Whether the exclusive or the inclusive value is at least 75 % of the highest such value in the function.
--
-- invariant one_row: Every row's experiment, unit, function and load object exist; an instruction has one row for each mode and metric.
--   SELECT experiment_id, mode, metric, function_id, code_offset, count(*) FROM disasm GROUP BY ALL
--   HAVING count(*) > 1 OR count(experiment) < count(*) OR count(unit) < count(*) OR count("function") < count(*) OR count(load_object) < count(*)
-- invariant every_pc: If the code of a function is known, the values of all its PCs are present, except those with an unknown instruction.
--   SELECT experiment_id, mode, metric, function_id, sum(exclusive), sum(found), sum(inclusive), sum(found_inclusive) FROM (
--     SELECT experiment_id, mode, metric, function_id, exclusive, 0 AS found, inclusive, 0 AS found_inclusive FROM disasm
--     UNION ALL
--     SELECT p.experiment_id, p.mode, p.metric, p.function_id, 0, p.exclusive, 0, p.inclusive
--     FROM pc_metrics p ANTI JOIN (SELECT experiment_id, location_id FROM locations_wide WHERE reason <> '') l USING (experiment_id, location_id)
--     SEMI JOIN disasm k ON k.experiment_id = p.experiment_id AND k.mode = p.mode AND k.metric = p.metric AND k.function_id = p.function_id
--   ) GROUP BY ALL HAVING sum(exclusive) <> sum(found) OR sum(inclusive) <> sum(found_inclusive)
-- invariant listed: Every function in `listings` has rows in `instructions`.
--   SELECT experiment_id, function_no, listed_in, listing FROM listings ANTI JOIN instructions_wide USING (experiment_id, function_no)
-- invariant apart: Instructions do not overlap.
--   SELECT * FROM (
--     SELECT experiment_id, function_id, "offset", size, lead("offset") OVER (PARTITION BY experiment_id, function_id ORDER BY "offset") AS next
--     FROM instructions_wide
--   ) WHERE "offset" + size > next
WITH spots AS (
  SELECT v.experiment_id, m.mode, v.metric, l.function_id, COALESCE(l.instruction, l."offset") AS "offset",
    (sum(v.exclusive) FILTER (l.reason = ''))::BIGINT AS exclusive, (sum(v.inclusive) FILTER (l.reason = ''))::BIGINT AS inclusive
  FROM pc_values v JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine) JOIN locations_wide l USING (experiment_id, location)
  GROUP BY ALL HAVING count(*) FILTER (l.reason = '') > 0 -- for the other PCs the instruction is unknown
),
highest AS (
  SELECT experiment_id, mode, metric, function_id, max(exclusive) AS highest, max(inclusive) AS highest_inclusive
  FROM spots GROUP BY ALL
),
-- Three tables are joined by experiment_id and another key in two steps: otherwise the
-- optimizer joins by experiment_id alone, which multiplies the tables.
owners AS (
  SELECT f.experiment_id, m.mode, k.listed_in, k.listing, f.address - f."offset" AS shift,
    CASE WHEN m.mode = 'user' AND f.kind = 'body' THEN COALESCE(f.body_of, f.function_id) ELSE f.function_id END AS function_id
  FROM functions f JOIN listings k USING (experiment_id, function_no) CROSS JOIN modes m
),
shown AS (
  SELECT o.*, h.metric, h.highest, h.highest_inclusive
  FROM highest h JOIN owners o ON o.experiment_id = h.experiment_id AND o.function_id = h.function_id AND o.mode = h.mode
),
functions_shown AS (
  SELECT s.*, f.name, f.load_object_id FROM shown s LEFT JOIN functions f USING (experiment_id, function_id)
),
-- Instructions are joined last, by the lists that experiments share. If they were joined earlier,
-- each experiment would have a copy.
named AS (
  SELECT s.*, o.name AS load_object, n.experiment, t.unit
  FROM functions_shown s LEFT JOIN load_objects o USING (experiment_id, load_object_id)
  LEFT JOIN experiment_names n USING (experiment_id) LEFT JOIN metrics t USING (experiment_id, metric)
)
SELECT n.experiment_id, n.experiment, n.mode, n.metric, n.unit, n.function_id, n.name AS "function", n.load_object,
  i."offset" AS code_offset, i."offset" + n.shift AS address, i.size, i.text, i.target_name, i.file, i.line,
  COALESCE(s.exclusive, 0) AS exclusive, COALESCE(s.inclusive, 0) AS inclusive,
  COALESCE(s.exclusive > 0 AND s.exclusive >= 0.75 * n.highest OR s.inclusive > 0 AND s.inclusive >= 0.75 * n.highest_inclusive, false) AS high
FROM named n
JOIN instructions_rows() i ON i.listed_in = n.listed_in AND i.listing = n.listing
LEFT JOIN spots s ON s.experiment_id = n.experiment_id AND s.mode = n.mode AND s.metric = n.metric
  AND s.function_id = n.function_id AND s."offset" = i."offset"
