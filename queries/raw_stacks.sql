-- row: one distinct recorded stack of a process. If other code is mapped at one of its addresses later, the same stack gets another row
--
-- experiment_id = recorded_stacks.experiment_id
-- raw_stack_id = recorded_stacks.raw_stack_id
-- process = recorded_stacks.process
-- from_ns = recorded_stacks.from_ns
-- user_stack_id BIGINT: The normalized stack in user mode.
-- expert_stack_id BIGINT: The normalized stack in expert mode.
-- machine_stack_id BIGINT: The normalized stack in machine mode.
-- reason = recorded_stacks.reason
SELECT experiment_id, raw_stack_id, process, from_ns,
  user_stack_id, expert_stack_id, machine_stack_id, reason
FROM recorded_stacks_wide JOIN node_stacks USING (experiment_id, node)
