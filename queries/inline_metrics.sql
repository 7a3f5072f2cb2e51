-- row: one function name of one load object in one experiment, or `<Total>`, with inlined functions as functions of their own
-- rules: S3, S10
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- function = functions.name: The name of a function or of an inlined one; what has the same name in a load object is one row.
-- load_object_id = load_objects.load_object_id
-- load_object = load_objects.name
-- kind VARCHAR: As `functions.kind`; `inlined` when only inlined code has the name.
-- exclusive = function_values.exclusive: The value of the samples whose leaf's innermost level is here.
-- inclusive = function_values.inclusive: The value of the samples whose stack, with all levels, passes here, each counted once.
--
-- invariant names: Every row has its experiment, unit, function and load object.
--   SELECT * FROM inline_metrics WHERE experiment IS NULL OR unit IS NULL OR function IS NULL OR load_object IS NULL
-- invariant locations_known: Every level is one of an instruction that is known; they are numbered from 0.
--   SELECT i.experiment_id, i.location_id FROM inline_frames i ANTI JOIN locations l USING (experiment_id, location_id)
--   UNION ALL
--   SELECT experiment_id, location_id FROM inline_frames GROUP BY ALL HAVING max(depth) <> count(*) - 1 OR count(DISTINCT depth) <> count(*)
-- invariant same_total: The exclusive values, with the samples that have no frame, add up to the `<Total>` of function_metrics.
--   SELECT experiment_id, mode, metric, sum(total), sum(found) FROM (
--     SELECT experiment_id, mode, metric, exclusive AS total, 0 AS found FROM function_metrics
--     WHERE function = '<Total>' AND kind = 'artificial'
--     UNION ALL
--     SELECT experiment_id, mode, metric, 0, exclusive FROM inline_metrics WHERE function <> '<Total>' OR kind <> 'artificial'
--     UNION ALL
--     SELECT v.experiment_id, v.mode, v.metric, 0, v.value FROM stack_metrics v JOIN stacks k USING (experiment_id, stack_id)
--     WHERE k.depth = 0
--   ) GROUP BY ALL HAVING sum(total) <> sum(found)
WITH deepest AS MATERIALIZED (
  SELECT experiment_id, location_id, max(depth) AS depth FROM inline_frames GROUP BY ALL
),
-- Joins of three tables by experiment_id and another key are done in steps: the
-- optimizer takes experiment_id alone for a key and would multiply the tables.
own AS MATERIALIZED (
  SELECT l.experiment_id, l.location_id, l.load_object_id, g.name, g.kind
  FROM locations l JOIN functions g ON g.experiment_id = l.experiment_id AND g.function_id = l.function_id
),
inlined AS MATERIALIZED (
  SELECT i.experiment_id, i.location_id, i.function AS name, i.depth = d.depth AS innermost
  FROM inline_frames i JOIN deepest d USING (experiment_id, location_id)
),
levels AS MATERIALIZED (
  SELECT o.experiment_id, o.location_id, o.load_object_id, o.name, o.kind, d.depth IS NULL AS innermost
  FROM own o LEFT JOIN deepest d USING (experiment_id, location_id)
  UNION ALL
  SELECT o.experiment_id, o.location_id, o.load_object_id, i.name, NULL, i.innermost
  FROM own o JOIN inlined i USING (experiment_id, location_id)
),
held AS MATERIALIZED (
  SELECT f.experiment_id, f.stack_id, l.load_object_id, l.name, min(l.kind) AS kind, bool_or(f.position = 0 AND l.innermost) AS leaf
  FROM frames f JOIN levels l USING (experiment_id, location_id)
  GROUP BY ALL
),
sums AS MATERIALIZED (
  SELECT v.experiment_id, v.experiment, v.mode, v.metric, v.unit, h.name, h.load_object_id, min(h.kind) AS kind,
    sum(CASE WHEN h.leaf THEN v.value ELSE 0 END) AS exclusive, sum(v.value) AS inclusive
  FROM stack_metrics v JOIN held h USING (experiment_id, stack_id)
  GROUP BY ALL
)
SELECT s.experiment_id, s.experiment, s.mode, s.metric, s.unit, s.name AS "function", s.load_object_id, o.name AS load_object,
  COALESCE(s.kind, 'inlined') AS kind, s.exclusive::BIGINT AS exclusive, s.inclusive::BIGINT AS inclusive
FROM sums s
LEFT JOIN load_objects o USING (experiment_id, load_object_id)
UNION ALL
SELECT t.experiment_id, t.experiment, t.mode, t.metric, t.unit, t.function, f.load_object_id, t.load_object,
  t.kind, t.exclusive, t.inclusive
FROM function_metrics t
JOIN functions f ON f.experiment_id = t.experiment_id AND f.function_id = t.function_id
WHERE t.function = '<Total>' AND t.kind = 'artificial'
