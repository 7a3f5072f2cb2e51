-- row: the resources that a process used between two sample points
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- process = overview.process
-- pid = processes.pid
-- point = overview.point
-- label = overview.label
-- t0_ns = overview.t0_ns
-- t1_ns = overview.t1_ns
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
-- invariant names: Every row's experiment and process exist.
--   SELECT * FROM sample_points WHERE experiment IS NULL OR pid IS NULL
SELECT o.experiment_id, n.experiment, o.process, p.pid, o.point, o.label, o.t0_ns, o.t1_ns,
  o.real_ns, o.user_ns, o.system_ns, o.trap_ns, o.text_fault_ns, o.data_fault_ns, o.kernel_fault_ns, o.lock_ns,
  o.sleep_ns, o.cpu_wait_ns, o.stopped_ns, o.minor_faults, o.major_faults, o.swaps, o.blocks_in, o.blocks_out,
  o.messages_sent, o.messages_received, o.signals, o.voluntary_switches, o.involuntary_switches, o.system_calls, o.characters
FROM overview o
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN processes p USING (experiment_id, process)
