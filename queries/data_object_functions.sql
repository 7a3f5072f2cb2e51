-- row: the accesses of one instruction to one data object that was identified in one way
-- rules: S10, S27, S31
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`; all of them show the same instruction, that of machine mode.
-- metric = metrics.metric
-- unit = metrics.unit
-- data_object_id = data_values.data_object_id
-- descriptor = data_objects.descriptor
-- function_id = locations.function_id: The function that accessed the data object; if the instruction was not found, the function at the recorded PC.
-- function = functions.name: The name of that function; empty if there is none.
-- load_object = load_objects.name: The name of the instruction's load object; empty if there is none.
-- file = locations.file: The path of the instruction's source file; empty if unknown.
-- line = locations.line: The source line, 0 if unknown.
-- code_offset = locations.offset: The instruction's offset in the load object; missing if there is no instruction.
-- method = data_values.method
-- detail = data_values.detail
-- agreement = data_values.agreement
-- value = data_values.value
-- samples = data_values.samples
-- kind = data_objects.kind
-- inlined VARCHAR: The functions inlined at the line, from the outermost to the one that the instruction belongs to, each with the line reached in it; empty if the instruction was not inlined.
-- embedding = data_objects.descriptor: The object at the data address, if the instruction names another one: the object that contains the named one, the bytes in which the named one was placed or, with `disagrees`, the object that is there instead. Empty if both are the same.
--
-- invariant names: Every row's experiment, unit, data object, function and load object exist.
--   SELECT * FROM data_object_functions WHERE experiment IS NULL OR unit IS NULL OR descriptor IS NULL OR function IS NULL OR load_object IS NULL
-- invariant parts: The rows sum to the values of `<Total>`.
--   SELECT experiment_id, mode, metric, sum(value), sum(total) FROM (
--     SELECT experiment_id, mode, metric, value, 0 AS total FROM data_object_functions
--     UNION ALL
--     SELECT experiment_id, mode, metric, 0, value FROM data_object_metrics WHERE kind = 'total'
--   ) GROUP BY ALL HAVING sum(value) <> sum(total)
WITH
-- Three tables are joined in two steps, as in data_object_metrics.
placed AS (
  SELECT v.*, l.function_id, l.load_object_id, l.file, l.line, l."offset"
  FROM data_values v LEFT JOIN locations_wide l USING (experiment_id, location)
),
levels AS (
  SELECT experiment_id, location, string_agg("function" || ':' || line, ' > ' ORDER BY depth) AS inlined
  FROM inline_frames_wide i SEMI JOIN data_values v ON v.experiment_id = i.experiment_id AND v.location = i.location
  GROUP BY ALL
),
inside AS (
  SELECT a.*, COALESCE(i.inlined, '') AS inlined FROM placed a LEFT JOIN levels i USING (experiment_id, location)
),
of_functions AS (
  SELECT a.*, f.name AS "function" FROM inside a LEFT JOIN functions f USING (experiment_id, function_id)
),
of_objects AS (
  SELECT a.*, o.name AS load_object FROM of_functions a LEFT JOIN load_objects o USING (experiment_id, load_object_id)
),
named AS (
  SELECT a.*, e.descriptor AS embedding FROM of_objects a LEFT JOIN data_objects e ON e.experiment_id = a.experiment_id AND e.data_object_id = a.embedding_object_id
)
SELECT a.experiment_id, n.experiment, m.mode, a.metric, t.unit, a.data_object_id, o.descriptor,
  a.function_id, COALESCE(a."function", '') AS "function", COALESCE(a.load_object, '') AS load_object,
  COALESCE(a.file, '') AS file, COALESCE(a.line, 0) AS line, a."offset" AS code_offset, a.method, a.detail, a.agreement, a.value, a.samples, o.kind, a.inlined, COALESCE(a.embedding, '') AS embedding
FROM named a
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN data_objects o USING (experiment_id, data_object_id)
