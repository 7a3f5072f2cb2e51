-- row: one piece of a process's memory whose addresses were accessed: a cache line, a page or a region
-- rules: S27
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`; the values are the same in all of them.
-- metric = metrics.metric
-- unit = metrics.unit
-- kind VARCHAR: `cache line`, `page`, or the kind of a region: `segment`, `stack`, `heap`, `heap block`, `anonymous`, `kernel` or `unknown`. The cache lines together count each access once; so do the pages, and so do the regions of all kinds.
-- address BIGINT: The first address of the piece.
-- size BIGINT: [bytes] The size of the piece.
-- name = memory_regions.name: The region's name; for a line or page, the name of the region that contains it. Empty if the region has no name, or if several regions contain parts of the line or page.
-- load_object = load_objects.name: A segment's load object; empty for other kinds.
-- value = data_values.value: The value of the accesses to the piece.
-- samples = data_values.samples
-- process = samples.process
-- threads BIGINT: [count] The number of threads that accessed the piece.
-- objects BIGINT: [count] The number of known data objects in the piece that were accessed.
-- size_source VARCHAR: For a cache line, `recorded` (`experiments.cache_line_size`) or `assumed` (64 bytes, if the recording does not say); empty for others.
--
-- invariant names: Every row's experiment, unit and load object exist.
--   SELECT * FROM memory_objects WHERE experiment IS NULL OR unit IS NULL OR load_object IS NULL OR name IS NULL
-- invariant one_row: A piece of memory has one row for each mode and metric.
--   SELECT experiment_id, mode, metric, process, kind, address, count(*) FROM memory_objects GROUP BY ALL HAVING count(*) > 1
-- invariant each_once: The lines, the pages and the regions each sum to the value of the samples with a data address.
--   SELECT experiment_id, mode, metric, sum(v) FILTER (what = 'cache line'), sum(v) FILTER (what = 'page'), sum(v) FILTER (what = 'region') FROM (
--     SELECT experiment_id, mode, metric, CASE WHEN kind IN ('cache line', 'page') THEN kind ELSE 'region' END AS what, value AS v FROM memory_objects
--   ) GROUP BY ALL
--   HAVING sum(v) FILTER (what = 'cache line') IS DISTINCT FROM sum(v) FILTER (what = 'page')
--     OR sum(v) FILTER (what = 'page') IS DISTINCT FROM sum(v) FILTER (what = 'region')
WITH addresses AS (
  SELECT experiment_id, sample, data_address AS address FROM perf_samples WHERE data_address <> 0
  UNION ALL
  -- Small values of hardware counters are codes (formats of `hwc_samples`).
  SELECT experiment_id, sample, data_address FROM hwc_samples WHERE data_address NOT BETWEEN 0 AND 254
),
-- Three tables are joined in two steps, as in data_object_metrics.
accesses AS (
  SELECT d.experiment_id, d.sample, a.address, d.memory_region_id, CASE WHEN d.method = '' THEN NULL ELSE d.data_object_id END AS data_object_id
  FROM data_samples d JOIN addresses a USING (experiment_id, sample)
),
threads AS (
  SELECT a.*, s.process, s.thread_id FROM accesses a JOIN samples s USING (experiment_id, sample)
),
lines AS (
  SELECT experiment_id, COALESCE(cache_line_size, 64) AS line_size, CASE WHEN cache_line_size IS NULL THEN 'assumed' ELSE 'recorded' END AS size_source,
    CASE WHEN page_size > 64 THEN page_size ELSE 4096 END AS page_size
  FROM experiments
),
lined AS (
  SELECT t.*, t.address & -l.line_size AS line FROM threads t JOIN lines l USING (experiment_id)
),
touched AS (
  SELECT t.experiment_id, v.metric, t.process, t.thread_id, t.line, t.memory_region_id, t.data_object_id,
    sum(v.value) AS value, count(*) AS samples
  FROM lined t JOIN sample_metrics v USING (experiment_id, sample)
  GROUP BY ALL
),
located AS (
  SELECT t.*, r.kind AS region_kind, r.name, r.address AS region_address, r.size AS region_size, r.load_object_id
  FROM touched t LEFT JOIN memory_regions r USING (experiment_id, memory_region_id)
),
sized AS (
  SELECT t.*, l.line_size, l.size_source, l.page_size FROM located t JOIN lines l USING (experiment_id)
),
pieces AS (
  SELECT * FROM (
    SELECT * EXCLUDE (size_source), 'cache line' AS kind, line AS address, line_size AS size, size_source FROM sized
    UNION ALL
    SELECT * EXCLUDE (size_source), 'page', line & -page_size, page_size, '' FROM sized
    UNION ALL
    SELECT * EXCLUDE (size_source), COALESCE(region_kind, 'unknown'), COALESCE(region_address, 0), COALESCE(region_size, 0), '' FROM sized
  )
),
sums AS (
  SELECT experiment_id, metric, process, kind, address, max(size)::BIGINT AS size, max(size_source) AS size_source,
    CASE WHEN count(DISTINCT memory_region_id) <= 1 THEN COALESCE(min(name), '') ELSE '' END AS name,
    CASE WHEN count(DISTINCT memory_region_id) <= 1 THEN min(load_object_id) END AS load_object_id,
    sum(value)::BIGINT AS value, sum(samples)::BIGINT AS samples,
    count(DISTINCT thread_id) AS threads, count(DISTINCT data_object_id) AS objects
  FROM pieces GROUP BY experiment_id, metric, process, kind, address
)
SELECT s.experiment_id, n.experiment, m.mode, s.metric, t.unit, s.kind, s.address, s.size, s.name,
  COALESCE(o.name, '') AS load_object, s.value, s.samples, s.process, s.threads, s.objects, s.size_source
FROM sums s
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN load_objects o USING (experiment_id, load_object_id)
