-- row: one kind of memory access, as the processor describes it: where the data came from, and what happened on the way
-- rules: S27
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`; the values are the same in all of them.
-- metric = metrics.metric
-- unit = metrics.unit
-- operation VARCHAR: What the instruction did: `load`, `store`, `prefetch`, `exec` or `N/A`; several are separated by ` or `.
-- level VARCHAR: The level of the memory hierarchy: `L1`, `L2`, `L3`, `LFB`, `Local RAM`, `Remote Cache (1 hop)`, ...; `N/A` if not recorded.
-- hit VARCHAR: Whether the level had the data: `hit` or `miss`; empty if not recorded.
-- snoop VARCHAR: The answer of other caches: `None`, `Hit`, `Miss`, `HitM` (the line was modified there), `Fwd`, `Peer` or `N/A`.
-- tlb VARCHAR: The level of the TLB that translated the address: `L1`, `L2`, `Walker`, `Fault`, ..., with `hit` or `miss`; `N/A` if not recorded.
-- locked VARCHAR: Whether the access was locked: `Yes`, `No`, or `N/A` if not recorded.
-- blocked VARCHAR: Why a load was blocked: `Data`, `Addr` or `N/A`.
-- value BIGINT: [the metric's] The value of these accesses.
-- samples BIGINT: [count] The number of samples with a value other than 0.
-- latency BIGINT: [cycles] The sum of the latencies of these accesses (`perf_samples.weight`); 0 if not recorded.
--
-- invariant names: Every row's experiment, unit and names exist.
--   SELECT * FROM memory_sources WHERE experiment IS NULL OR unit IS NULL OR operation = '' OR level = '' OR snoop = '' OR tlb = '' OR locked = '' OR blocked = ''
-- invariant one_row: A kind of access has one row for each mode and metric.
--   SELECT experiment_id, mode, metric, operation, level, hit, snoop, tlb, locked, blocked, count(*) FROM memory_sources GROUP BY ALL HAVING count(*) > 1
-- invariant each_once: The kinds sum to the value of the samples with a data source.
--   SELECT * FROM (SELECT experiment_id, metric, sum(value) AS value FROM memory_sources WHERE mode = 'user' GROUP BY ALL)
--   FULL JOIN (
--     SELECT v.experiment_id, v.metric, sum(v.value) AS expected FROM sample_metrics v
--     JOIN (SELECT experiment_id, sample FROM perf_samples WHERE data_source IS NOT NULL UNION ALL SELECT experiment_id, sample FROM hwc_samples WHERE data_source > 0) s USING (experiment_id, sample)
--     GROUP BY ALL
--   ) USING (experiment_id, metric)
--   WHERE value IS DISTINCT FROM expected
WITH accesses AS (
  SELECT experiment_id, sample, data_source, weight FROM perf_samples WHERE data_source IS NOT NULL
  UNION ALL
  SELECT experiment_id, sample, data_source, COALESCE(latency, 0) FROM hwc_samples WHERE data_source > 0
),
sums AS (
  SELECT a.experiment_id, v.metric, a.data_source AS s, sum(v.value)::BIGINT AS value, count(*) AS samples, sum(a.weight)::BIGINT AS latency
  FROM accesses a JOIN sample_metrics v USING (experiment_id, sample)
  GROUP BY ALL
),
-- The bits are described in docs/formats/perf-data.md 6.3; the names are perf mem's.
named AS (
  SELECT *,
    list_filter(['load', 'store', 'prefetch', 'exec'], lambda name, i: s >> i & 1 = 1) AS operations,
    list_filter(['L1', 'LFB', 'L2', 'L3', 'Local RAM', 'Remote RAM (1 hop)', 'Remote RAM (2 hops)', 'Remote Cache (1 hop)', 'Remote Cache (2 hops)', 'I/O', 'Uncached'],
      lambda name, i: s >> (7 + i) & 1 = 1) AS levels,
    CASE s >> 33 & 15 WHEN 0 THEN '' WHEN 5 THEN 'L2 MHB' WHEN 6 THEN 'Memory-side Cache' WHEN 7 THEN 'L0' WHEN 8 THEN 'Uncached' WHEN 9 THEN 'CXL' WHEN 10 THEN 'I/O'
      WHEN 11 THEN 'Any cache' WHEN 12 THEN 'LFB' WHEN 13 THEN 'RAM' WHEN 14 THEN 'PMEM' WHEN 15 THEN '' ELSE concat('L', s >> 33 & 15) END AS number,
    CASE WHEN s >> 37 & 1 = 1 THEN 'Remote ' ELSE '' END AS remote,
    CASE s >> 43 & 7 WHEN 1 THEN 'core, same node ' WHEN 2 THEN 'node, same socket ' WHEN 3 THEN 'socket, same board ' WHEN 4 THEN 'board ' ELSE '' END AS hops,
    list_filter(['None', 'Hit', 'Miss', 'HitM', '', '', '', '', '', '', '', '', '', '', '', '', '', '', 'Fwd', 'Peer'], lambda name, i: name <> '' AND s >> (19 + i) & 1 = 1) AS snoops,
    list_filter(['L1', 'L2', 'Walker', 'Fault'], lambda name, i: s >> (28 + i) & 1 = 1) AS translations
  FROM sums
),
texts AS (
  SELECT experiment_id, metric, value, samples, latency,
    CASE WHEN len(operations) = 0 THEN 'N/A' ELSE array_to_string(operations, ' or ') END AS operation,
    CASE WHEN len(levels) > 0 THEN array_to_string(levels, ' or ') WHEN number <> '' THEN concat(remote, hops, number) ELSE 'N/A' END AS level,
    CASE WHEN s >> 6 & 1 = 1 THEN 'hit' WHEN s >> 7 & 1 = 1 THEN 'miss' ELSE '' END AS hit,
    CASE WHEN len(snoops) = 0 THEN 'N/A' ELSE array_to_string(snoops, ' or ') END AS snoop,
    CASE WHEN len(translations) = 0 AND s >> 27 & 3 = 0 THEN 'N/A'
      ELSE trim(concat(array_to_string(translations, ' or '), CASE WHEN s >> 27 & 1 = 1 THEN ' hit' WHEN s >> 28 & 1 = 1 THEN ' miss' ELSE '' END)) END AS tlb,
    CASE WHEN s >> 24 & 1 = 1 THEN 'N/A' WHEN s >> 25 & 1 = 1 THEN 'Yes' ELSE 'No' END AS locked,
    CASE s >> 41 & 3 WHEN 1 THEN 'Data' WHEN 2 THEN 'Addr' WHEN 3 THEN 'Data or Addr' ELSE 'N/A' END AS blocked
  FROM named
),
kinds AS (
  SELECT experiment_id, metric, operation, level, hit, snoop, tlb, locked, blocked,
    sum(value)::BIGINT AS value, sum(samples)::BIGINT AS samples, sum(latency)::BIGINT AS latency
  FROM texts GROUP BY ALL
)
SELECT k.experiment_id, n.experiment, m.mode, k.metric, t.unit, k.operation, k.level, k.hit, k.snoop, k.tlb, k.locked, k.blocked, k.value, k.samples, k.latency
FROM kinds k
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
