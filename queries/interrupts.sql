-- row: one run of an interrupt's handler: its entry and its exit, or one of both, if the other was not recorded
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- sample = samples.sample: The sample of the entry; of the exit if there is no entry.
-- cpu = samples.cpu
-- process = samples.process: The process that was interrupted.
-- thread_id = samples.thread_id
-- kind VARCHAR: `irq` (of a device), `softirq` or `vector` (of the processor itself).
-- number BIGINT: The number of the interrupt or the vector.
-- name VARCHAR: The device's handler, the softirq (`TIMER`), or the vector (`local_timer`); missing for an exit without an entry.
-- t0_ns BIGINT: [ns] When it was entered, from the founder's start; missing without an entry.
-- duration_ns BIGINT: [ns] How long it took, with interrupts meanwhile; missing without an entry or an exit, or if records were lost meanwhile.
-- period BIGINT: [count] How many runs the row stands for: 1, unless the tracepoint was sampled (`-F`).
-- stack = samples.stack
--
-- invariant nested: Those of one CPU follow or contain each other.
--   SELECT a.experiment_id, a.sample, b.sample FROM interrupts a JOIN interrupts b ON a.experiment_id = b.experiment_id AND a.cpu = b.cpu
--     AND b.t0_ns > a.t0_ns AND b.t0_ns < a.t0_ns + a.duration_ns
--   WHERE b.t0_ns + b.duration_ns > a.t0_ns + a.duration_ns
-- invariant whole: No time is negative, and every handler has a number.
--   SELECT * FROM interrupts WHERE duration_ns < 0 OR number IS NULL OR experiment IS NULL
WITH
traced AS (
  SELECT *, regexp_extract(tracepoint, '_(entry|exit)$', 1) AS half,
    CASE WHEN system = 'irq_vectors' THEN 'vector' WHEN starts_with(tracepoint, 'softirq') THEN 'softirq' ELSE 'irq' END AS kind
  FROM tracepoint_samples WHERE system = 'irq' AND tracepoint IN ('irq_handler_entry', 'irq_handler_exit', 'softirq_entry', 'softirq_exit') OR system = 'irq_vectors'
),
halves AS (
  SELECT *, half = 'exit' AS is_exit FROM traced WHERE half <> ''
),
valued AS (
  SELECT t.*, max(f.number) FILTER (m.field IN ('irq', 'vec', 'vector')) AS number, max(f.text) FILTER (m.field = 'name') AS handler
  FROM halves t JOIN event_fields_unfiltered_rows() f USING (experiment_id, sample) JOIN event_formats m USING (experiment_id, event, position) GROUP BY ALL
),
-- A handler is not entered again on its CPU before it returns.
ordered AS (
  SELECT *, lead(time_ns) OVER runs AS next_ns, NOT is_exit AND NOT sampled AND cpu >= 0 AND COALESCE(lead(is_exit) OVER runs, false) AS fits
  FROM valued WINDOW runs AS (PARTITION BY experiment_id, cpu, kind, number ORDER BY time_ns, sample)
),
checked AS (
  SELECT o.*, o.fits AND g.cpus_until_ns <= o.time_ns AS paired
  FROM ordered o ASOF JOIN event_gaps g ON g.experiment_id = o.experiment_id AND g.from_ns < COALESCE(o.next_ns, o.time_ns)
),
ended AS (
  SELECT *, COALESCE(lag(paired) OVER runs, false) AS ends FROM checked WINDOW runs AS (PARTITION BY experiment_id, cpu, kind, number ORDER BY time_ns, sample)
)
SELECT o.experiment_id, e.experiment, o.sample, o.cpu, o.process, o.thread_id, o.kind, o.number,
  CASE o.kind WHEN 'vector' THEN regexp_replace(o.tracepoint, '_(entry|exit)$', '') WHEN 'irq' THEN o.handler
    ELSE ['HI', 'TIMER', 'NET_TX', 'NET_RX', 'BLOCK', 'IRQ_POLL', 'TASKLET', 'SCHED', 'HRTIMER', 'RCU'][o.number + 1] END AS name,
  IF(o.is_exit, NULL, o.time_ns) AS t0_ns, IF(o.paired, o.next_ns - o.time_ns, NULL) AS duration_ns, o.period, o.stack
FROM ended o JOIN (SELECT experiment_id, sample FROM samples) k USING (experiment_id, sample) LEFT JOIN experiment_names e USING (experiment_id)
WHERE NOT o.ends
