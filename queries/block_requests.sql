-- row: one request to a block device: its issue and its completion, or one of both, if the other was not recorded
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- sample = samples.sample: The sample of the issue, the first one if the device did not take it at once; of the completion if there is no issue.
-- process = samples.process: The process that issued it; of a completion, the one that was interrupted.
-- thread_id = samples.thread_id
-- device VARCHAR: The device's numbers, major and minor: `254:0`.
-- sector BIGINT: The first sector, of 512 bytes.
-- sectors BIGINT: [count] How many sectors.
-- bytes BIGINT: [bytes] How many bytes; missing without an issue.
-- operation VARCHAR: `read`, `write`, `flush`, `discard` or `other`.
-- rwbs VARCHAR: Operation and flags as the kernel prints them: `WSM` is a synchronous write of metadata.
-- error BIGINT: The error number that the completion has, 0 if it succeeded; missing without a completion.
-- t0_ns BIGINT: [ns] When the device got it, from the founder's start, at the last issue if there were several; missing without an issue.
-- duration_ns BIGINT: [ns] How long the device took; missing without an issue or a completion, if it is not certain that both belong together, or if records were lost meanwhile.
-- period BIGINT: [count] How many requests the row stands for: 1, unless the tracepoint was sampled (`-F`).
-- stack = samples.stack
--
-- invariant ends: Each completion is that of one request.
--   SELECT experiment_id, sum(n) FROM (
--     SELECT experiment_id, 1 AS n FROM block_requests WHERE error IS NOT NULL
--     UNION ALL
--     SELECT experiment_id, -1 FROM tracepoint_samples WHERE system = 'block' AND tracepoint = 'block_rq_complete'
--   ) GROUP BY ALL HAVING sum(n) <> 0
-- invariant whole: No time is negative, and every request has a device.
--   SELECT * FROM block_requests WHERE duration_ns < 0 OR device IS NULL OR experiment IS NULL
WITH
traced AS (
  SELECT *, tracepoint = 'block_rq_complete' AS is_end FROM tracepoint_samples
  WHERE system = 'block' AND tracepoint IN ('block_rq_issue', 'block_rq_complete')
),
valued AS (
  SELECT t.*, max(f.number) FILTER (m.field = 'dev') AS dev, max(f.number) FILTER (m.field = 'sector') AS place,
    max(f.number) FILTER (m.field = 'nr_sector') AS sectors, max(f.number) FILTER (m.field = 'bytes') AS bytes,
    max(f.number) FILTER (m.field IN ('error', 'errors')) AS error, max(f.text) FILTER (m.field = 'rwbs') AS rwbs
  FROM traced t JOIN event_fields_unfiltered_rows() f USING (experiment_id, sample) JOIN event_formats m USING (experiment_id, event, position) GROUP BY ALL
),
-- A flush has no place: its issue says 0, its completion -1.
named AS (
  SELECT *, greatest(place, 0) AS sector, regexp_extract(rwbs, '^F?([RWDFN])', 1) AS letter FROM valued
),
ordered AS (
  SELECT *, count(*) FILTER (is_end) OVER (place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS end_no, is_end AND COALESCE(lead(is_end) OVER place, false) AS ends_again
  FROM named WINDOW place AS (PARTITION BY experiment_id, dev, sector, letter ORDER BY time_ns, sample)
),
-- Issues of one place before a completion are one request that the device did not take at first. If
-- two completions follow, they are two requests, and which completion is whose is not known.
grouped AS (
  SELECT experiment_id, dev, sector, letter, end_no, min(time_ns) FILTER (NOT is_end) AS first_ns, max(time_ns) FILTER (NOT is_end) AS last_ns,
    arg_min(sample, (time_ns, sample)) FILTER (NOT is_end) AS issue,
    max(time_ns) FILTER (is_end) AS end_ns, max(error) FILTER (is_end) AS end_error,
    NOT bool_or(sampled) AND COALESCE(max(sectors) FILTER (is_end) >= max(sectors) FILTER (NOT is_end), false) AND NOT (bool_or(ends_again) AND count(*) > 2) AS fits
  FROM ordered GROUP BY ALL
),
checked AS (
  SELECT r.*, COALESCE(r.fits AND g.until_ns <= r.first_ns, false) AS paired
  FROM grouped r ASOF JOIN event_gaps g ON g.experiment_id = r.experiment_id AND g.from_ns < COALESCE(r.end_ns, r.first_ns)
)
SELECT o.experiment_id, e.experiment, o.sample, o.process, o.thread_id, concat(o.dev >> 20, ':', o.dev & 1048575) AS device, o.sector, o.sectors, o.bytes,
  CASE o.letter WHEN 'R' THEN 'read' WHEN 'W' THEN 'write' WHEN 'F' THEN 'flush' WHEN 'D' THEN 'discard' ELSE 'other' END AS operation, o.rwbs,
  IF(o.is_end, o.error, IF(c.paired, c.end_error, NULL)) AS error, CASE WHEN c.paired THEN c.last_ns WHEN NOT o.is_end THEN o.time_ns END AS t0_ns, IF(c.paired, c.end_ns - c.last_ns, NULL) AS duration_ns, o.period, o.stack
FROM ordered o JOIN (SELECT experiment_id, sample FROM samples) k USING (experiment_id, sample)
JOIN checked c USING (experiment_id, dev, sector, letter, end_no)
LEFT JOIN experiment_names e USING (experiment_id)
WHERE NOT c.paired OR o.sample = c.issue
