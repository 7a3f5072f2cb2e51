-- row: one thread, with its scheduling delays: how long it waited for a CPU after it was woken up
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- process = thread_states.process
-- thread_id = thread_states.thread_id
-- thread_name = thread_names.thread_name: The thread's latest name; missing if none was recorded.
-- delays BIGINT: [count] The number of delays.
-- delay_ns BIGINT: [ns] The sum of the delays.
-- mean_ns BIGINT: [ns] The mean delay.
-- longest_ns BIGINT: [ns] The longest delay.
-- longest_at_ns BIGINT: [ns] When the longest delay ended, from the founder's start.
--
-- invariant total: The delays of a thread sum to its time in the state `runqueue`.
--   SELECT * FROM runqueue r JOIN sched_threads t USING (experiment_id, process, thread_id) WHERE r.delay_ns <> t.runqueue_ns
WITH named AS (
  SELECT experiment_id, process, thread_id, arg_max(thread_name, name_no) AS thread_name FROM thread_names GROUP BY ALL
)
SELECT t.experiment_id, e.experiment, t.process, t.thread_id, n.thread_name, count(*) AS delays, sum(t1_ns - t0_ns)::BIGINT AS delay_ns,
  (sum(t1_ns - t0_ns) // count(*))::BIGINT AS mean_ns, max(t1_ns - t0_ns) AS longest_ns, arg_max(t1_ns, t1_ns - t0_ns) AS longest_at_ns
FROM thread_states t
LEFT JOIN experiment_names e USING (experiment_id)
LEFT JOIN named n USING (experiment_id, process, thread_id)
WHERE t.state = 'runqueue'
GROUP BY ALL
