-- row: one thread, with how long it waited for a CPU after it was woken up
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- process = thread_states.process
-- thread_id = thread_states.thread_id
-- thread_name = thread_names.thread_name: The latest name; missing if it was not recorded.
-- delays BIGINT: [count] How often.
-- delay_ns BIGINT: [ns] How long altogether.
-- mean_ns BIGINT: [ns] How long on average.
-- longest_ns BIGINT: [ns] The longest delay.
-- longest_at_ns BIGINT: [ns] When that ended, from the founder's start.
--
-- invariant total: The delays of a thread are its time on the run queue.
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
