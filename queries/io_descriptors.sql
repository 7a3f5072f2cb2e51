-- row: one use of a file by one process, from open to close, with the sums of the calls
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- process = samples.process
-- file = io_samples.file: The number of the use within the experiment (`io_files.file`); -1 for calls on a descriptor that is not open.
-- fd INTEGER: The file descriptor; missing if the calls used several or none.
-- name VARCHAR: The file's name.
-- file_system = io_files.file_system
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
-- invariant total: The rows sum to `<Total>`.
--   SELECT experiment_id, metric, sum(value) FROM (
--     SELECT experiment_id, unnest([
--       {metric: 'ioreadcnt', value: reads}, {metric: 'ioreadbytes', value: read_bytes}, {metric: 'ioreadtime', value: read_ns},
--       {metric: 'iowritecnt', value: writes}, {metric: 'iowritebytes', value: written_bytes}, {metric: 'iowritetime', value: write_ns},
--       {metric: 'ioothercnt', value: others}, {metric: 'ioothertime', value: other_ns},
--       {metric: 'ioerrorcnt', value: errors}, {metric: 'ioerrortime', value: error_ns}], recursive := true) FROM io_descriptors
--     UNION ALL
--     SELECT experiment_id, metric, -inclusive FROM function_metrics
--     WHERE mode = 'user' AND (experiment_id, metric) IN (SELECT experiment_id, metric FROM metrics WHERE kind = 'io') AND function = '<Total>' AND kind = 'artificial'
--   ) GROUP BY ALL HAVING sum(value) <> 0
SELECT experiment_id, experiment, process, file, CASE WHEN min(fd) = max(fd) AND min(fd) >= 0 THEN min(fd) END AS fd, name, file_system,
  count(*) FILTER (part = 'read') AS reads, COALESCE(sum(bytes) FILTER (part = 'read'), 0)::BIGINT AS read_bytes, COALESCE(sum(metric_ns) FILTER (part = 'read'), 0)::BIGINT AS read_ns,
  count(*) FILTER (part = 'write') AS writes, COALESCE(sum(bytes) FILTER (part = 'write'), 0)::BIGINT AS written_bytes, COALESCE(sum(metric_ns) FILTER (part = 'write'), 0)::BIGINT AS write_ns,
  count(*) FILTER (part = 'other') AS others, COALESCE(sum(metric_ns) FILTER (part = 'other'), 0)::BIGINT AS other_ns,
  count(*) FILTER (part = 'error') AS errors, COALESCE(sum(metric_ns) FILTER (part = 'error'), 0)::BIGINT AS error_ns
FROM io_calls
GROUP BY experiment_id, experiment, process, file, name, file_system
