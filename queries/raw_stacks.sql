-- row: one distinct recorded stack of a process, as long as the mappings of its PCs stay the same
--
-- experiment_id = recorded_stacks.experiment_id
-- raw_stack_id = recorded_stacks.raw_stack_id
-- process = recorded_stacks.process
-- from_ns = recorded_stacks.from_ns
-- user_stack_id BIGINT: Its stack in user mode.
-- expert_stack_id BIGINT: Its stack in expert mode.
-- machine_stack_id BIGINT: Its stack in machine mode.
-- reason = recorded_stacks.reason
SELECT experiment_id, raw_stack_id, process, from_ns,
  user_stack_id, expert_stack_id, machine_stack_id, reason
FROM recorded_stacks_wide JOIN node_stacks USING (experiment_id, node)
