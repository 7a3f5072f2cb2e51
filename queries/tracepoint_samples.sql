-- row: one sample of a tracepoint whose fields the recording describes, also one that a filter leaves out: other views pair samples first
--
-- experiment_id = experiments.experiment_id
-- sample = samples.sample
-- event = perf_samples.event
-- system = event_formats.system
-- tracepoint VARCHAR: The tracepoint's name within the system, without what was typed after it: `sys_enter`.
-- own_position INTEGER: The position of its first field that not all tracepoints have: `event_formats.position`.
-- pid_position INTEGER: The position of the id of the thread that ran then, as the whole machine knows it: of `common_pid`.
-- period = perf_samples.value: How many events the sample stands for: 1, unless the tracepoint was sampled (`-F`).
-- sampled BOOLEAN: Whether the recording lacks events of the tracepoint's system because it was sampled, so that no two can be paired.
-- process = samples.process
-- thread_id = samples.thread_id
-- cpu = samples.cpu
-- time_ns = samples.time_ns
-- stack = samples.stack
WITH events AS (
  SELECT experiment_id, event, system, min(position) FILTER (field NOT LIKE 'common!_%' ESCAPE '!') AS own_position,
    min(position) FILTER (field = 'common_pid') AS pid_position, regexp_extract(substr(event, length(system) + 1), '^:(\w+)', 1) AS tracepoint
  FROM event_formats GROUP BY ALL
),
traced AS (
  SELECT p.experiment_id, p.sample, p.event, e.system, e.tracepoint, e.own_position, e.pid_position, p.value AS period,
    max(p.value) OVER (PARTITION BY p.experiment_id, e.system) > 1 AS sampled
  FROM perf_samples_unfiltered_rows() p JOIN events e USING (experiment_id, event)
  WHERE starts_with(p.event, e.system)
)
SELECT t.*, s.process, s.thread_id, s.cpu, s.time_ns, s.stack FROM traced t JOIN samples_unfiltered_rows() s USING (experiment_id, sample)
