-- row: one nonempty range of sizes of reads or of writes
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- part VARCHAR: `read` or `write`.
-- size_range VARCHAR: The range's name, as in gprofng; a KB is 1,024 bytes.
-- above BIGINT: [bytes] The lower bound of the range; the sizes in it are greater.
-- upto BIGINT: [bytes] The upper bound of the range, which is part of it.
-- calls BIGINT: [count] The number of calls.
-- bytes BIGINT: [bytes] The number of bytes transferred.
--
-- invariant each_once: Every read and every write is in one range.
--   SELECT experiment_id, part, sum(n), sum(b) FROM (
--     SELECT experiment_id, part, calls AS n, bytes AS b FROM io_sizes
--     UNION ALL
--     SELECT experiment_id, part, -calls, -bytes FROM io_statistics WHERE part IN ('read', 'write')
--   ) GROUP BY ALL HAVING sum(n) <> 0 OR sum(b) <> 0
SELECT c.experiment_id, c.experiment, c.part, r.size_range, r.above, r.upto, count(*) AS calls, sum(c.bytes)::BIGINT AS bytes
FROM io_calls c JOIN size_ranges r ON c.bytes > r.above AND c.bytes <= r.upto
WHERE c.part IN ('read', 'write')
GROUP BY ALL
