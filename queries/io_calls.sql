-- row: one I/O call, with the names of its operation and its file
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- sample = samples.sample
-- process = samples.process
-- thread_id = samples.thread_id
-- cpu = samples.cpu
-- time_ns = samples.time_ns
-- operation VARCHAR: `read`, `write`, `open`, `close` or `other`.
-- failed BOOLEAN: Whether the call returned an error.
-- part VARCHAR: Which of the I/O metrics count the call: those for `read`, `write`, `other` or `error`.
-- fd = io_samples.fd
-- file = io_samples.file
-- name VARCHAR: The file's name; `<no open file>` for calls on a descriptor that is not open.
-- file_system = io_files.file_system
-- bytes BIGINT: [bytes] The bytes moved; 0 if the call failed.
-- duration_ns = io_samples.duration_ns
-- metric_ns = io_samples.metric_ns
-- stack = samples.stack
--
-- invariant named: Every call's sample, experiment, operation and file exist.
--   SELECT * FROM io_calls WHERE process IS NULL OR experiment IS NULL OR operation IS NULL OR part IS NULL OR (name = '<no open file>') <> (file = -1)
SELECT c.experiment_id, n.experiment, c.sample, s.process, s.thread_id, s.cpu, s.time_ns,
  ['read', 'write', 'open', 'close', 'other'][c.operation % 5 + 1] AS operation, c.operation >= 5 AS failed,
  CASE WHEN c.operation >= 5 THEN 'error' ELSE ['read', 'write', 'other', 'other', 'other'][c.operation + 1] END AS part,
  c.fd, c.file, COALESCE(f.name, '<no open file>') AS name, COALESCE(f.file_system, 'N/A') AS file_system,
  greatest(c.bytes, 0) AS bytes, c.duration_ns, c.metric_ns, s.stack
FROM io_samples c
JOIN samples s USING (experiment_id, sample)
LEFT JOIN io_files f ON f.experiment_id = c.experiment_id AND f.file = c.file
LEFT JOIN experiment_names n ON n.experiment_id = c.experiment_id
