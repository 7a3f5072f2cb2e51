-- row: the resources that a process used, summed over its sample points
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- process = overview.process
-- pid = processes.pid
-- target = processes.target
-- t0_ns = overview.t0_ns: The first point's start, since the start of the first process.
-- t1_ns = overview.t1_ns: The last point's end.
-- points BIGINT: [count] The number of sample points.
-- real_ns = overview.real_ns
-- user_ns = overview.user_ns
-- system_ns = overview.system_ns
-- trap_ns = overview.trap_ns
-- text_fault_ns = overview.text_fault_ns
-- data_fault_ns = overview.data_fault_ns
-- kernel_fault_ns = overview.kernel_fault_ns
-- lock_ns = overview.lock_ns
-- sleep_ns = overview.sleep_ns
-- cpu_wait_ns = overview.cpu_wait_ns
-- stopped_ns = overview.stopped_ns
-- minor_faults = overview.minor_faults
-- major_faults = overview.major_faults
-- swaps = overview.swaps
-- blocks_in = overview.blocks_in
-- blocks_out = overview.blocks_out
-- messages_sent = overview.messages_sent
-- messages_received = overview.messages_received
-- signals = overview.signals
-- voluntary_switches = overview.voluntary_switches
-- involuntary_switches = overview.involuntary_switches
-- system_calls = overview.system_calls
-- characters = overview.characters
--
-- invariant apart: A process has one row.
--   SELECT experiment_id, process, count(*) FROM process_statistics GROUP BY ALL HAVING count(*) > 1
SELECT s.experiment_id, s.experiment, s.process, s.pid, p.target, min(s.t0_ns) AS t0_ns, max(s.t1_ns) AS t1_ns, count(*) AS points,
  sum(s.real_ns)::BIGINT AS real_ns, sum(s.user_ns)::BIGINT AS user_ns, sum(s.system_ns)::BIGINT AS system_ns, sum(s.trap_ns)::BIGINT AS trap_ns,
  sum(s.text_fault_ns)::BIGINT AS text_fault_ns, sum(s.data_fault_ns)::BIGINT AS data_fault_ns, sum(s.kernel_fault_ns)::BIGINT AS kernel_fault_ns, sum(s.lock_ns)::BIGINT AS lock_ns,
  sum(s.sleep_ns)::BIGINT AS sleep_ns, sum(s.cpu_wait_ns)::BIGINT AS cpu_wait_ns, sum(s.stopped_ns)::BIGINT AS stopped_ns, sum(s.minor_faults)::BIGINT AS minor_faults,
  sum(s.major_faults)::BIGINT AS major_faults, sum(s.swaps)::BIGINT AS swaps, sum(s.blocks_in)::BIGINT AS blocks_in, sum(s.blocks_out)::BIGINT AS blocks_out,
  sum(s.messages_sent)::BIGINT AS messages_sent, sum(s.messages_received)::BIGINT AS messages_received, sum(s.signals)::BIGINT AS signals, sum(s.voluntary_switches)::BIGINT AS voluntary_switches,
  sum(s.involuntary_switches)::BIGINT AS involuntary_switches, sum(s.system_calls)::BIGINT AS system_calls, sum(s.characters)::BIGINT AS characters
FROM sample_points s LEFT JOIN processes p USING (experiment_id, process)
GROUP BY s.experiment_id, s.experiment, s.process, s.pid, p.target
