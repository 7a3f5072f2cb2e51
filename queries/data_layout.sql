-- row: one member, or one hole between members, of an aggregate that has a value, in the order in memory
-- rules: S28, S30
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`; the values are the same in all of them.
-- metric = metrics.metric
-- unit = metrics.unit
-- data_object_id = data_objects.data_object_id: The aggregate.
-- descriptor = data_objects.descriptor: The aggregate's descriptor.
-- position BIGINT: The position of the row in the aggregate, from 1; 0 for accesses of which only the aggregate is known.
-- kind VARCHAR: What the row is: `member`, `bit field`, `hole` (padding, also at the end) or `aggregate` (position 0).
-- member_id = data_objects.data_object_id: The member; missing for holes and position 0.
-- member VARCHAR: The member's descriptor without that of the aggregate; empty for holes and position 0.
-- name = data_objects.name: The member's name; empty if it has none.
-- member_offset BIGINT: [bytes] The offset of the member or hole in the aggregate.
-- size BIGINT: [bytes] The size of the member or hole; for a bit field, the size of the bytes that contain it; missing if unknown.
-- bit_offset INTEGER: [bits] Where in the byte at `member_offset` a bit field, or a hole of a few bits, begins.
-- bit_size INTEGER: [bits] The number of bits of a bit field or of a hole of a few bits; 0 for whole bytes.
-- cache_line BIGINT: The number, from 0, of the cache line (of `line_size` bytes) in which the member begins, if the aggregate begins at the start of a cache line.
-- value = data_values.value: The value of the accesses to the member and to everything inside it; 0 if there are none.
-- samples = data_values.samples
-- aggregate_value = data_values.value: The value of the whole aggregate.
-- aggregate_size = data_objects.size: The size of the whole aggregate; for an array, of one element.
-- scope = data_objects.scope: The aggregate's scope.
-- aggregate_name = data_objects.name: The aggregate's name as a member of another one; empty if it is no member.
-- line_size BIGINT: [bytes] The size of a cache line.
-- line_size_source VARCHAR: `recorded` (`experiments.cache_line_size`) or `assumed` (64 bytes, if the recording does not say).
--
-- invariant names: Every row's experiment, unit and aggregate exist.
--   SELECT * FROM data_layout WHERE experiment IS NULL OR unit IS NULL OR descriptor IS NULL
-- invariant one_row: A position has one row for each mode, metric and aggregate.
--   SELECT experiment_id, mode, metric, data_object_id, position, count(*) FROM data_layout GROUP BY ALL HAVING count(*) > 1
-- invariant parts: The rows of an aggregate sum to its value.
--   SELECT experiment_id, mode, metric, data_object_id, sum(value), sum(parts) FROM (
--     SELECT experiment_id, mode, metric, data_object_id, 0 AS value, value AS parts FROM data_layout
--     UNION ALL
--     SELECT v.experiment_id, v.mode, v.metric, v.data_object_id, v.value, 0 FROM data_object_metrics v
--     SEMI JOIN data_objects c ON c.experiment_id = v.experiment_id AND c.parent_id = v.data_object_id AND c.kind = 'element'
--   ) GROUP BY ALL HAVING sum(value) <> sum(parts)
-- invariant holes: No size is negative, and no hole covers a member.
--   SELECT * FROM data_layout WHERE size < 0 OR bit_size < 0 OR member_offset < 0
--   UNION ALL
--   SELECT h.* FROM data_layout h JOIN data_layout m USING (experiment_id, mode, metric, data_object_id)
--   WHERE h.kind = 'hole' AND m.kind IN ('member', 'bit field') AND h.bit_size = 0 AND m.bit_size = 0
--     AND m.member_offset < h.member_offset + h.size AND h.member_offset < m.member_offset + m.size
WITH valued AS (
  SELECT experiment_id, data_object_id, parent_id, metric, value, samples FROM data_object_metrics WHERE mode = 'user'
),
aggregates AS (
  SELECT experiment_id, data_object_id, descriptor, scope, name, element_size AS size
  FROM data_objects o
  SEMI JOIN valued v ON v.experiment_id = o.experiment_id AND v.data_object_id = o.data_object_id
),
-- Members, with their first bit and the bit after their last, counted from the aggregate's start.
members AS (
  SELECT a.experiment_id, a.data_object_id, a.descriptor, a.scope, a.name AS own, a.size AS whole, m.data_object_id AS member_id, m.descriptor AS full_name, m.name,
    m."offset" * 8 + m.bit_offset AS begins, m.bit_size,
    m."offset" * 8 + m.bit_offset + CASE WHEN m.bit_size > 0 THEN m.bit_size ELSE COALESCE(m.size, 0) * 8 END AS ends, m.size
  FROM aggregates a JOIN data_objects m ON m.experiment_id = a.experiment_id AND m.parent_id = a.data_object_id
  WHERE m.kind = 'element'
),
covered AS (
  SELECT *, COALESCE(max(ends) OVER (PARTITION BY experiment_id, data_object_id ORDER BY begins, ends, member_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
  FROM members
),
gaps AS (
  SELECT experiment_id, data_object_id, descriptor, scope, own, whole, before AS begins, begins AS ends FROM covered WHERE begins > before
  UNION ALL
  SELECT experiment_id, data_object_id, descriptor, scope, own, whole, max(ends), whole * 8 FROM covered
  GROUP BY experiment_id, data_object_id, descriptor, scope, own, whole HAVING whole * 8 > max(ends)
),
spots AS (
  SELECT experiment_id, data_object_id, descriptor, scope, own, whole, CASE WHEN bit_size > 0 THEN 'bit field' ELSE 'member' END AS kind, member_id,
    CASE WHEN starts_with(full_name, descriptor || '.') THEN full_name[length(descriptor) + 2:] ELSE full_name END AS member, name,
    begins, ends, CASE WHEN bit_size > 0 THEN (begins % 8 + bit_size + 7) // 8 ELSE size END AS size, bit_size
  FROM covered
  UNION ALL
  SELECT experiment_id, data_object_id, descriptor, scope, own, whole, 'hole', NULL, '', '', begins, ends, (ends + 7) // 8 - begins // 8,
    CASE WHEN begins % 8 = 0 AND ends % 8 = 0 THEN 0 ELSE ends - begins END
  FROM gaps
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY experiment_id, data_object_id ORDER BY begins, ends, member_id NULLS LAST) AS position FROM spots
),
-- Three tables are joined in two steps, as in data_object_metrics.
shown AS (
  SELECT p.*, v.metric, v.value AS aggregate_value FROM placed p JOIN valued v USING (experiment_id, data_object_id)
),
inside AS (
  SELECT experiment_id, parent_id AS data_object_id, metric, sum(value) AS value, sum(samples) AS samples
  FROM valued WHERE parent_id IS NOT NULL GROUP BY ALL
),
-- The rest of the value belongs to the aggregate, but to no member.
alone AS (
  SELECT v.experiment_id, v.data_object_id, v.metric, v.value AS aggregate_value, v.value - COALESCE(i.value, 0) AS value, v.samples - COALESCE(i.samples, 0) AS samples
  FROM valued v LEFT JOIN inside i USING (experiment_id, data_object_id, metric)
),
lines AS (
  SELECT experiment_id, COALESCE(cache_line_size, 64) AS line_size, CASE WHEN cache_line_size IS NULL THEN 'assumed' ELSE 'recorded' END AS line_size_source
  FROM experiments
),
all_rows AS (
  SELECT s.experiment_id, s.data_object_id, s.descriptor, s.metric, s.position, s.kind, s.member_id, s.member, s.name,
    s.begins // 8 AS "offset", s.size, s.begins % 8 AS bit_offset, s.bit_size, COALESCE(v.value, 0) AS value, COALESCE(v.samples, 0) AS samples,
    s.aggregate_value, s.whole, s.scope, s.own
  FROM shown s LEFT JOIN valued v ON v.experiment_id = s.experiment_id AND v.data_object_id = s.member_id AND v.metric = s.metric
  UNION ALL
  SELECT a.experiment_id, a.data_object_id, m.descriptor, a.metric, 0, 'aggregate', NULL, '', '', 0, m.whole, 0, 0, a.value, a.samples, a.aggregate_value, m.whole, m.scope, m.own
  FROM alone a JOIN (SELECT DISTINCT experiment_id, data_object_id, descriptor, scope, own, whole FROM members) m USING (experiment_id, data_object_id)
  WHERE a.samples > 0
)
SELECT r.experiment_id, n.experiment, m.mode, r.metric, t.unit, r.data_object_id, r.descriptor, r.position, r.kind, r.member_id, r.member, r.name,
  r."offset" AS member_offset, r.size, r.bit_offset::INTEGER AS bit_offset, r.bit_size::INTEGER AS bit_size, r."offset" // l.line_size AS cache_line,
  r.value::BIGINT AS value, r.samples::BIGINT AS samples,
  r.aggregate_value, r.whole AS aggregate_size, r.scope, r.own AS aggregate_name,
  l.line_size, l.line_size_source
FROM all_rows r
JOIN lines l USING (experiment_id)
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
