-- row: one node of the tree of stacks, with the columns of `stack_nodes`, in the subtree of a given node: `FROM passes(17) WHERE experiment = 'test.1.er'`
-- rules: S19
--
-- parameter top_node INTEGER: The top node of the subtree: its number in `stack_nodes`.
-- parameter of_metric VARCHAR = NULL: The metric; by default each experiment's default metric.
-- parameter in_mode VARCHAR = 'user': The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- node = stack_tree.node
-- parent INTEGER: As in `stack_nodes`.
-- last = stack_tree.last
-- depth INTEGER: As in `stack_nodes`.
-- function_id = functions.function_id
-- function = functions.name
-- load_object = load_objects.name
-- location_id = locations.location_id
-- exclusive BIGINT: [the metric's] The value of the samples whose stack ends at this node.
-- inclusive BIGINT: [the metric's] The value of the samples whose stack contains this node.
SELECT x.*
FROM stack_nodes x JOIN default_metrics d USING (experiment_id)
JOIN stack_tree_wide t ON t.experiment_id = x.experiment_id AND t.node = top_node::INTEGER AND x.node BETWEEN t.node AND t.last
WHERE x.mode = in_mode::VARCHAR AND x.metric = COALESCE(of_metric::VARCHAR, d.metric)
ORDER BY x.experiment, x.metric, x.node
