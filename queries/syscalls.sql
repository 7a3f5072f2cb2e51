-- row: one system call: its entry and its exit, or one of both, if the other was not recorded
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- sample = samples.sample: The sample of the entry; of the exit if there is no entry.
-- process = samples.process
-- thread_id = samples.thread_id
-- number BIGINT: Its number; -1 for an exit that does not tell it.
-- name VARCHAR: Its name; missing if the number is unknown for the machine's architecture.
-- arg0 BIGINT: Its first argument, as the register has it; missing if it has none, or no entry was recorded.
-- arg1 BIGINT: Its second argument.
-- arg2 BIGINT: Its third argument.
-- arg3 BIGINT: Its fourth argument.
-- arg4 BIGINT: Its fifth argument.
-- arg5 BIGINT: Its sixth argument.
-- result BIGINT: What it returned; missing without an exit, and for `rt_sigreturn`, which returns nothing.
-- error BIGINT: The error number, if it failed: -`result`.
-- error_name VARCHAR: The name of that: `ENOENT`.
-- t0_ns BIGINT: [ns] When it was entered, from the founder's start; missing without an entry.
-- duration_ns BIGINT: [ns] How long it took; missing if it was not entered or did not return while it was recorded, or if records were lost meanwhile.
-- period BIGINT: [count] How many calls the row stands for: 1, unless the tracepoint was sampled (`-F`).
-- stack = samples.stack
--
-- invariant each_once: Each sample of `raw_syscalls` is the entry or the exit of one call.
--   SELECT experiment_id, sum(n) FROM (
--     SELECT experiment_id, IF(duration_ns IS NULL, 1, 2) AS n FROM syscalls
--     UNION ALL
--     SELECT experiment_id, -1 FROM tracepoint_samples WHERE system = 'raw_syscalls'
--   ) SEMI JOIN (SELECT experiment_id FROM tracepoint_samples WHERE system = 'raw_syscalls') USING (experiment_id)
--   GROUP BY ALL HAVING sum(n) <> 0 AND experiment_id NOT IN (SELECT experiment_id FROM tracepoint_samples WHERE system = 'syscalls')
-- invariant whole: A call has an entry or an exit, and no time is negative.
--   SELECT * FROM syscalls WHERE t0_ns IS NULL AND duration_ns IS NOT NULL OR duration_ns < 0 OR experiment IS NULL
WITH
traced AS (
  SELECT *, tracepoint LIKE 'sys!_exit%' ESCAPE '!' AS is_exit FROM tracepoint_samples
  WHERE system = 'raw_syscalls' AND tracepoint IN ('sys_enter', 'sys_exit')
    OR system = 'syscalls' AND (tracepoint LIKE 'sys!_enter!_%' ESCAPE '!' OR tracepoint LIKE 'sys!_exit!_%' ESCAPE '!')
),
-- Of two sources for the same half of calls, the one with all calls.
halves AS (
  SELECT * FROM traced QUALIFY system = 'raw_syscalls' OR NOT bool_or(system = 'raw_syscalls') OVER (PARTITION BY experiment_id, is_exit)
),
-- The fields are the number, and then the arguments or the result, by position: names of arguments
-- may be any.
valued AS (
  SELECT h.*, max(f.number) FILTER (f.position = h.own_position) AS number,
    max(f.number) FILTER (h.is_exit AND f.position = h.own_position + 1) AS result,
    max(f.text) FILTER (h.system = 'raw_syscalls' AND f.position = h.own_position + 1) AS args,
    list(f.number ORDER BY f.position) FILTER (h.system = 'syscalls' AND NOT h.is_exit AND f.position > h.own_position AND f.number IS NOT NULL) AS arg_list,
    max(f.number) FILTER (f.position = h.pid_position) AS common_pid
  FROM halves h JOIN event_fields_unfiltered_rows() f USING (experiment_id, sample) GROUP BY ALL
),
-- Idle tasks of all CPUs have the id 0.
ordered AS (
  SELECT *, lead(is_exit) OVER thread AS next_is_exit, lead(number) OVER thread AS next_number,
    lead(result) OVER thread AS next_result, lead(time_ns) OVER thread AS next_ns
  FROM valued WINDOW thread AS (PARTITION BY experiment_id, common_pid, IF(common_pid = 0, cpu, 0) ORDER BY time_ns, sample)
),
-- The exit of rt_sigreturn has the number -1.
checked AS (
  SELECT o.*, NOT o.is_exit AND NOT o.sampled AND COALESCE(o.next_is_exit AND o.next_number IN (o.number, -1) AND g.until_ns <= o.time_ns, false) AS paired
  FROM ordered o ASOF JOIN event_gaps g ON g.experiment_id = o.experiment_id AND g.from_ns < COALESCE(o.next_ns, o.time_ns)
),
ended AS (
  SELECT *, COALESCE(lag(paired) OVER thread, false) AS ends FROM checked
  WINDOW thread AS (PARTITION BY experiment_id, common_pid, IF(common_pid = 0, cpu, 0) ORDER BY time_ns, sample)
),
whole AS (
  SELECT *, IF(paired, next_number, number) AS exit_number, IF(is_exit, result, IF(paired, next_result, NULL)) AS returned,
    COALESCE(list_transform(string_split(args, ','), lambda a: a::UBIGINT::BIT::BIGINT), arg_list) AS arguments
  FROM ended JOIN (SELECT experiment_id, sample FROM samples) k USING (experiment_id, sample) WHERE NOT ends
),
answered AS (
  SELECT w.*, e.experiment, IF(e.arch GLOB 'i?86', 'i386', e.arch) AS arch, IF(exit_number >= 0, returned, NULL) AS answer
  FROM whole w LEFT JOIN experiments e USING (experiment_id)
)
SELECT a.experiment_id, a.experiment, a.sample, a.process, a.thread_id, a.number,
  COALESCE(n.name, IF(a.system = 'syscalls', regexp_extract(a.tracepoint, '^sys_[a-z]+_(.*)', 1), NULL)) AS name,
  a.arguments[1] AS arg0, a.arguments[2] AS arg1, a.arguments[3] AS arg2, a.arguments[4] AS arg3, a.arguments[5] AS arg4, a.arguments[6] AS arg5,
  a.answer AS result, IF(a.answer BETWEEN -4095 AND -1, -a.answer, NULL) AS error, r.name AS error_name,
  IF(a.is_exit, NULL, a.time_ns) AS t0_ns, IF(a.paired, a.next_ns - a.time_ns, NULL) AS duration_ns, a.period, a.stack
FROM answered a
LEFT JOIN syscall_names n USING (arch, number)
LEFT JOIN error_names r ON r.error = -a.answer AND NOT regexp_matches(a.arch, '^(mips|sparc|alpha|parisc)')
