-- row: one file name, with the sums of the calls on that file in all processes
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- name VARCHAR: The file's name; in angle brackets if the recording has none.
-- file_system = io_files.file_system: The kind of file system, alphabetically the first if there are several; `N/A` if unknown.
-- opens BIGINT: [count] The number of attempts to open the file.
-- reads BIGINT: [count] The number of reads: `ioreadcnt`.
-- read_bytes BIGINT: [bytes] The number of bytes read: `ioreadbytes`.
-- read_ns BIGINT: [ns] How long the reads took: `ioreadtime`.
-- writes BIGINT: [count] The number of writes: `iowritecnt`.
-- written_bytes BIGINT: [bytes] The number of bytes written: `iowritebytes`.
-- write_ns BIGINT: [ns] How long the writes took: `iowritetime`.
-- others BIGINT: [count] The number of other calls (open, close, ...): `ioothercnt`.
-- other_ns BIGINT: [ns] How long the other calls took: `ioothertime`.
-- errors BIGINT: [count] The number of calls of all kinds that failed: `ioerrorcnt`.
-- error_ns BIGINT: [ns] How long the failed calls took: `ioerrortime`.
--
-- invariant parts: A file's values are the sums over its rows in `io_descriptors`.
--   SELECT experiment_id, name FROM (
--     SELECT experiment_id, name, reads, read_bytes, read_ns, writes, written_bytes, write_ns, others, other_ns, errors, error_ns FROM io_activity
--     UNION ALL
--     SELECT experiment_id, name, -reads, -read_bytes, -read_ns, -writes, -written_bytes, -write_ns, -others, -other_ns, -errors, -error_ns FROM io_descriptors
--   ) GROUP BY ALL HAVING sum(reads) <> 0 OR sum(read_bytes) <> 0 OR sum(read_ns) <> 0 OR sum(writes) <> 0 OR sum(written_bytes) <> 0
--     OR sum(write_ns) <> 0 OR sum(others) <> 0 OR sum(other_ns) <> 0 OR sum(errors) <> 0 OR sum(error_ns) <> 0
SELECT experiment_id, experiment, name, min(file_system) AS file_system, count(*) FILTER (operation = 'open') AS opens,
  count(*) FILTER (part = 'read') AS reads, COALESCE(sum(bytes) FILTER (part = 'read'), 0)::BIGINT AS read_bytes, COALESCE(sum(metric_ns) FILTER (part = 'read'), 0)::BIGINT AS read_ns,
  count(*) FILTER (part = 'write') AS writes, COALESCE(sum(bytes) FILTER (part = 'write'), 0)::BIGINT AS written_bytes, COALESCE(sum(metric_ns) FILTER (part = 'write'), 0)::BIGINT AS write_ns,
  count(*) FILTER (part = 'other') AS others, COALESCE(sum(metric_ns) FILTER (part = 'other'), 0)::BIGINT AS other_ns,
  count(*) FILTER (part = 'error') AS errors, COALESCE(sum(metric_ns) FILTER (part = 'error'), 0)::BIGINT AS error_ns
FROM io_calls
GROUP BY experiment_id, experiment, name
