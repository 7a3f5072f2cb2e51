-- row: one kind of I/O call, with the sums and extremes of its calls
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- part VARCHAR: `read`, `write`, `other` or `error`.
-- calls BIGINT: [count] The number of calls.
-- bytes BIGINT: [bytes] The number of bytes transferred.
-- smallest_bytes BIGINT: [bytes] The smallest nonempty transfer; missing if nothing was moved.
-- largest_bytes BIGINT: [bytes] The largest transfer.
-- time_ns BIGINT: [ns] How long the calls took, each rounded to microseconds as in the metrics.
-- longest_ns = io_samples.duration_ns: The longest call.
--
-- invariant parts: The numbers and times of calls are the sums over all rows of `io_descriptors`.
--   SELECT experiment_id, part, sum(n), sum(t) FROM (
--     SELECT experiment_id, part, calls AS n, time_ns AS t FROM io_statistics
--     UNION ALL
--     SELECT experiment_id, unnest([{part: 'read', n: -reads, t: -read_ns}, {part: 'write', n: -writes, t: -write_ns},
--       {part: 'other', n: -others, t: -other_ns}, {part: 'error', n: -errors, t: -error_ns}], recursive := true) FROM io_descriptors
--   ) GROUP BY ALL HAVING sum(n) <> 0 OR sum(t) <> 0
SELECT experiment_id, experiment, part, count(*) AS calls, sum(bytes)::BIGINT AS bytes,
  min(bytes) FILTER (bytes > 0) AS smallest_bytes, max(bytes) AS largest_bytes, sum(metric_ns)::BIGINT AS time_ns, max(duration_ns) AS longest_ns
FROM io_calls
GROUP BY experiment_id, experiment, part
