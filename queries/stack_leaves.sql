-- row: one distinct nonempty normalized stack, with one of the nodes of the tree of stacks where it ends
--
-- experiment_id = recorded_stacks.experiment_id
-- stack_id BIGINT: Hash of the stack's frames: `stacks.stack_id`.
-- mode VARCHAR: A mode that shows the stack: machine mode if possible.
-- node = stack_tree.node: The node of the stack's leaf in that mode.
SELECT experiment_id, stack_id, unnest(arg_min({mode: mode, node: node}, (mode <> 'machine', node)))
FROM mode_stacks
WHERE node > 0
GROUP BY experiment_id, stack_id
