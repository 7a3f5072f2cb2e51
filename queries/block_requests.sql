-- row: one request to a block device: its issue and its completion, or one of both, if the other was not recorded
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- sample = samples.sample: The sample of the issue; of the completion if there is no issue.
-- process = samples.process: The process that issued it; of a completion, the one that was interrupted.
-- thread_id = samples.thread_id
-- device VARCHAR: The device's numbers, major and minor: `254:0`.
-- sector BIGINT: The first sector, of 512 bytes.
-- sectors BIGINT: [count] How many sectors.
-- bytes BIGINT: [bytes] How many bytes; missing without an issue.
-- operation VARCHAR: `read`, `write`, `flush`, `discard` or `other`.
-- rwbs VARCHAR: Operation and flags as the kernel prints them: `WSM` is a synchronous write of metadata.
-- error BIGINT: The error number that the completion has, 0 if it succeeded; missing without a completion.
-- t0_ns BIGINT: [ns] When the device got it, from the founder's start; missing without an issue.
-- duration_ns BIGINT: [ns] How long the device took; missing without an issue or a completion, if it is not certain that both belong together, or if records were lost meanwhile.
-- period BIGINT: [count] How many requests the row stands for: 1, unless the tracepoint was sampled (`-F`).
-- stack = samples.stack
--
-- invariant each_once: Each sample is the issue or the completion of one request.
--   SELECT experiment_id, sum(n) FROM (
--     SELECT experiment_id, IF(duration_ns IS NULL, 1, 2) AS n FROM block_requests
--     UNION ALL
--     SELECT experiment_id, -1 FROM tracepoint_samples WHERE system = 'block' AND tracepoint IN ('block_rq_issue', 'block_rq_complete')
--   ) GROUP BY ALL HAVING sum(n) <> 0
-- invariant whole: No time is negative, and every request has a device.
--   SELECT * FROM block_requests WHERE duration_ns < 0 OR device IS NULL OR experiment IS NULL
WITH
traced AS (
  SELECT *, tracepoint = 'block_rq_complete' AS is_end FROM tracepoint_samples
  WHERE system = 'block' AND tracepoint IN ('block_rq_issue', 'block_rq_complete')
),
valued AS (
  SELECT t.experiment_id, t.sample, max(f.number) FILTER (m.field = 'dev') AS dev, max(f.number) FILTER (m.field = 'sector') AS at,
    max(f.number) FILTER (m.field = 'nr_sector') AS sectors, max(f.number) FILTER (m.field = 'bytes') AS bytes,
    max(f.number) FILTER (m.field IN ('error', 'errors')) AS error, max(f.text) FILTER (m.field = 'rwbs') AS rwbs
  FROM traced t JOIN event_fields f USING (experiment_id, sample) JOIN event_formats m USING (experiment_id, event, position) GROUP BY ALL
),
-- A flush has no place: its issue says 0, its completion -1.
named AS (
  SELECT t.*, v.* EXCLUDE (experiment_id, sample), greatest(v.at, 0) AS sector, regexp_extract(v.rwbs, '^F?([RWDFN])', 1) AS letter
  FROM traced t JOIN valued v USING (experiment_id, sample)
),
ordered AS (
  SELECT *, lead(time_ns) OVER place AS next_ns, lead(error) OVER place AS next_error,
    -- A request that was issued twice, as after an error, ends once. Two at the same place end
    -- twice, and which end is whose is not known.
    NOT is_end AND NOT sampled AND COALESCE(lead(is_end) OVER place AND lead(sectors) OVER place >= sectors, false)
      AND NOT COALESCE(NOT lag(is_end) OVER place AND lead(is_end, 2) OVER place, false) AS fits
  FROM named WINDOW place AS (PARTITION BY experiment_id, dev, sector, letter ORDER BY time_ns, sample)
),
checked AS (
  SELECT o.*, o.fits AND COALESCE(g.until_ns <= o.time_ns, true) AS paired
  FROM ordered o ASOF LEFT JOIN event_gaps g ON g.experiment_id = o.experiment_id AND g.from_ns < o.next_ns
),
ended AS (
  SELECT *, COALESCE(lag(paired) OVER place, false) AS ends FROM checked WINDOW place AS (PARTITION BY experiment_id, dev, sector, letter ORDER BY time_ns, sample)
)
SELECT o.experiment_id, e.experiment, o.sample, o.process, o.thread_id, concat(o.dev >> 20, ':', o.dev & 1048575) AS device, o.sector, o.sectors, o.bytes,
  CASE o.letter WHEN 'R' THEN 'read' WHEN 'W' THEN 'write' WHEN 'F' THEN 'flush' WHEN 'D' THEN 'discard' ELSE 'other' END AS operation, o.rwbs,
  IF(o.is_end, o.error, IF(o.paired, o.next_error, NULL)) AS error, IF(o.is_end, NULL, o.time_ns) AS t0_ns, IF(o.paired, o.next_ns - o.time_ns, NULL) AS duration_ns, o.period, o.stack
FROM ended o LEFT JOIN experiment_names e USING (experiment_id)
WHERE NOT o.ends
