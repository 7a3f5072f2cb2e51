-- row: one stack of I/O calls, with their sums
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- stack VARCHAR: The functions' names from the root to the leaf as in `folded`. Stacks of the same functions are rows apart if they differ in an instruction.
-- reads BIGINT: [count] The number of reads: `ioreadcnt`.
-- read_bytes BIGINT: [bytes] What they read: `ioreadbytes`.
-- read_ns BIGINT: [ns] How long they took: `ioreadtime`.
-- writes BIGINT: [count] The number of writes: `iowritecnt`.
-- written_bytes BIGINT: [bytes] What they wrote: `iowritebytes`.
-- write_ns BIGINT: [ns] How long they took: `iowritetime`.
-- others BIGINT: [count] The number of other calls (open, close, ...): `ioothercnt`.
-- other_ns BIGINT: [ns] How long they took: `ioothertime`.
-- errors BIGINT: [count] The number of calls of all kinds that failed: `ioerrorcnt`.
-- error_ns BIGINT: [ns] How long they took: `ioerrortime`.
-- stack_id BIGINT: Hash of the stack's frames: `stacks.stack_id`.
--
-- invariant one_row: A stack has one row for each mode, and its text.
--   SELECT experiment_id, mode, stack_id, count(*) FROM io_stacks GROUP BY ALL HAVING count(*) > 1 OR count(stack) < count(*)
-- invariant total: The rows sum to `<Total>`.
--   SELECT experiment_id, mode, metric, sum(value) FROM (
--     SELECT experiment_id, mode, unnest([
--       {metric: 'ioreadcnt', value: reads}, {metric: 'ioreadbytes', value: read_bytes}, {metric: 'ioreadtime', value: read_ns},
--       {metric: 'iowritecnt', value: writes}, {metric: 'iowritebytes', value: written_bytes}, {metric: 'iowritetime', value: write_ns},
--       {metric: 'ioothercnt', value: others}, {metric: 'ioothertime', value: other_ns},
--       {metric: 'ioerrorcnt', value: errors}, {metric: 'ioerrortime', value: error_ns}], recursive := true) FROM io_stacks
--     UNION ALL
--     SELECT experiment_id, mode, metric, -inclusive FROM function_metrics
--     WHERE regexp_full_match(metric, 'io(read|write|other|error)(cnt|bytes|time)') AND function = '<Total>' AND kind = 'artificial'
--   ) GROUP BY ALL HAVING sum(value) <> 0
WITH
-- A filter by experiment reaches the frames through inner joins only.
sums AS NOT MATERIALIZED (
  SELECT experiment_id, experiment, mode, stack_id,
    sum(value) FILTER (metric = 'ioreadcnt') AS reads, sum(value) FILTER (metric = 'ioreadbytes') AS read_bytes, sum(value) FILTER (metric = 'ioreadtime') AS read_ns,
    sum(value) FILTER (metric = 'iowritecnt') AS writes, sum(value) FILTER (metric = 'iowritebytes') AS written_bytes, sum(value) FILTER (metric = 'iowritetime') AS write_ns,
    sum(value) FILTER (metric = 'ioothercnt') AS others, sum(value) FILTER (metric = 'ioothertime') AS other_ns,
    sum(value) FILTER (metric = 'ioerrorcnt') AS errors, sum(value) FILTER (metric = 'ioerrortime') AS error_ns
  FROM stack_metrics WHERE regexp_full_match(metric, 'io(read|write|other|error)(cnt|bytes|time)')
  GROUP BY ALL
),
passed AS NOT MATERIALIZED (
  SELECT experiment_id, stack_id, "position", function_id FROM frames JOIN (SELECT DISTINCT experiment_id, stack_id FROM sums) USING (experiment_id, stack_id)
),
texts AS NOT MATERIALIZED (
  SELECT p.experiment_id, p.stack_id, string_agg(replace(f.name, ';', ':'), ';' ORDER BY p."position" DESC) AS stack
  FROM passed p JOIN functions f USING (experiment_id, function_id) GROUP BY ALL
)
SELECT s.experiment_id, s.experiment, s.mode, COALESCE(t.stack, '<Total>') AS stack,
  COALESCE(s.reads, 0)::BIGINT AS reads, COALESCE(s.read_bytes, 0)::BIGINT AS read_bytes, COALESCE(s.read_ns, 0)::BIGINT AS read_ns,
  COALESCE(s.writes, 0)::BIGINT AS writes, COALESCE(s.written_bytes, 0)::BIGINT AS written_bytes, COALESCE(s.write_ns, 0)::BIGINT AS write_ns,
  COALESCE(s.others, 0)::BIGINT AS others, COALESCE(s.other_ns, 0)::BIGINT AS other_ns,
  COALESCE(s.errors, 0)::BIGINT AS errors, COALESCE(s.error_ns, 0)::BIGINT AS error_ns, s.stack_id
FROM sums s LEFT JOIN texts t USING (experiment_id, stack_id)
