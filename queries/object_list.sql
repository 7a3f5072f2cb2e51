-- row: one load object of an experiment; load objects without a value have a row, too
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- load_object = load_objects.name
-- path = load_objects.path
-- kind = load_objects.kind
-- build_id = load_objects.build_id
-- symbols = load_objects.symbols
-- functions = load_objects.functions
-- lines = load_objects.lines
-- mappings BIGINT: [count] The number of mappings of the load object, in all processes.
-- load_object_id = load_objects.load_object_id
--
-- invariant names: Every load object's experiment exists, and a load object has one row.
--   SELECT experiment_id, load_object_id FROM object_list GROUP BY ALL HAVING count(*) > 1 OR count(experiment) = 0
WITH mapped AS (
  SELECT experiment_id, load_object_id, count(*) AS mappings FROM segments GROUP BY ALL
)
SELECT o.experiment_id, n.experiment, o.name AS load_object, o.path, o.kind, o.build_id, o.symbols, o.functions, o.lines,
  COALESCE(s.mappings, 0) AS mappings, o.load_object_id
FROM load_objects o
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN mapped s USING (experiment_id, load_object_id)
