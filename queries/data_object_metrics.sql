-- row: one data object: a variable, an aggregate or an element of one, or a reason why the object is unknown
-- rules: S27, S28, S29, S30, S31
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`; the values are the same in all of them.
-- metric = metrics.metric
-- unit = metrics.unit
-- data_object_id = data_objects.data_object_id
-- parent_id = data_objects.parent_id
-- descriptor = data_objects.descriptor
-- kind = data_objects.kind
-- scope = data_objects.scope
-- value = data_values.value: The value of the accesses to the object and to everything inside it.
-- samples = data_values.samples
-- name = data_objects.name
-- member_offset = data_objects.offset
-- size = data_objects.size
-- scope_kind = data_objects.scope_kind
--
-- invariant names: Every row's experiment, unit, descriptor and kind exist.
--   SELECT * FROM data_object_metrics WHERE experiment IS NULL OR unit IS NULL OR descriptor IS NULL OR descriptor = '' OR kind IS NULL
-- invariant one_row: A data object has one row for each mode and metric.
--   SELECT experiment_id, mode, metric, data_object_id, count(*) FROM data_object_metrics GROUP BY ALL HAVING count(*) > 1
-- invariant children: The children of `<Total>`, `<Scalars>` and `<Unknown>` sum to their parent's value, the children of an aggregate sum to at most its value.
--   SELECT experiment_id, mode, metric, data_object_id, sum(value), sum(children), any_value(kind) FROM (
--     SELECT experiment_id, mode, metric, data_object_id, kind, value, 0 AS children FROM data_object_metrics
--     UNION ALL
--     SELECT experiment_id, mode, metric, parent_id, NULL, 0, value FROM data_object_metrics WHERE parent_id IS NOT NULL
--   ) GROUP BY ALL HAVING sum(children) > sum(value) OR any_value(kind) IN ('total', 'scalars', 'unknown') AND sum(children) <> sum(value)
-- invariant parents: Every data object but `<Total>` has a parent; the parent of an element is an aggregate.
--   SELECT o.* FROM data_objects o LEFT JOIN data_objects p ON p.experiment_id = o.experiment_id AND p.data_object_id = o.parent_id
--   WHERE (o.parent_id IS NULL) <> (o.kind = 'total') OR p.kind IS DISTINCT FROM CASE o.kind
--     WHEN 'scalars' THEN 'total' WHEN 'unknown' THEN 'total' WHEN 'aggregate' THEN 'total' WHEN 'scalar' THEN 'scalars' WHEN 'unknown_element' THEN 'unknown'
--     WHEN 'element' THEN CASE WHEN p.kind = 'element' THEN 'element' ELSE 'aggregate' END END
-- invariant samples_recomputed: The values are the sums over the samples with that data object, instruction, method, agreement and embedding.
--   WITH joined AS (
--     SELECT d.experiment_id, v.metric, d.data_object_id, d.location_id, d.method, d.agreement, d.embedding_object_id, v.value
--     FROM data_samples d JOIN sample_metrics v USING (experiment_id, sample)
--   )
--   SELECT experiment_id, metric, data_object_id, location_id, method, agreement, embedding_object_id, sum(value), sum(found), sum(samples), sum(n) FROM (
--     SELECT experiment_id, metric, data_object_id, location_id, method, agreement, embedding_object_id, value, samples, 0 AS found, 0 AS n FROM data_values_wide
--     UNION ALL
--     SELECT experiment_id, metric, data_object_id, location_id, method, agreement, embedding_object_id, 0, 0, value, 1 FROM joined
--   ) GROUP BY ALL HAVING sum(value) <> sum(found) OR sum(samples) <> sum(n)
-- invariant references: Every data object, instruction and region of memory that a sample refers to exists.
--   SELECT d.experiment_id, d.sample FROM data_samples d ANTI JOIN data_objects o USING (experiment_id, data_object_id)
--   UNION ALL
--   SELECT d.experiment_id, d.sample FROM data_samples d ANTI JOIN data_objects o ON o.experiment_id = d.experiment_id AND o.data_object_id = d.embedding_object_id
--   WHERE d.embedding_object_id IS NOT NULL
--   UNION ALL
--   SELECT d.experiment_id, d.sample FROM data_samples d ANTI JOIN locations_wide l USING (experiment_id, location_id) WHERE d.location_id IS NOT NULL
--   UNION ALL
--   SELECT d.experiment_id, d.sample FROM data_samples d ANTI JOIN memory_regions r USING (experiment_id, memory_region_id) WHERE d.memory_region_id IS NOT NULL
WITH RECURSIVE leaves AS (
  SELECT experiment_id, metric, data_object_id, sum(value) AS value, sum(samples) AS samples
  FROM data_values GROUP BY ALL
),
parents AS (
  SELECT experiment_id, data_object_id, parent_id FROM data_objects WHERE parent_id IS NOT NULL
),
-- A member counts for everything that contains it (S30).
around AS (
  SELECT experiment_id, data_object_id AS leaf_id, data_object_id FROM (SELECT DISTINCT experiment_id, data_object_id FROM leaves)
  UNION ALL
  SELECT a.experiment_id, a.leaf_id, p.parent_id FROM around a JOIN parents p USING (experiment_id, data_object_id)
),
-- Three tables are joined by experiment_id and another key in two steps: otherwise the
-- optimizer joins by experiment_id alone, which multiplies the tables.
sums AS (
  SELECT l.experiment_id, l.metric, a.data_object_id, sum(l.value)::BIGINT AS value, sum(l.samples)::BIGINT AS samples
  FROM leaves l JOIN around a ON a.experiment_id = l.experiment_id AND a.leaf_id = l.data_object_id
  GROUP BY ALL
)
SELECT s.experiment_id, n.experiment, m.mode, s.metric, t.unit,
  s.data_object_id, o.parent_id, o.descriptor, o.kind, o.scope, s.value, s.samples, o.name, o."offset" AS member_offset, o.size, o.scope_kind
FROM sums s
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN data_objects o USING (experiment_id, data_object_id)
