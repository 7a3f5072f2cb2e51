-- row: one rectangle of a flame graph: a path of functions from `<Total>`. Rows are in drawing order: callers first, and from left to right. Grafana's flame graph reads `SELECT level, label, value, self FROM flame() WHERE experiment = 'test.1.er'`
-- rules: S12, S18, S19, S24, S26
--
-- parameter of_metric VARCHAR = NULL: The metric; by default each experiment's default metric.
-- parameter in_mode VARCHAR = 'user': The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- position BIGINT: [the metric's] The distance of the rectangle's left edge from that of the graph; the rectangle is `value` wide.
-- level INTEGER: The depth of the rectangle: the number of calls from `<Total>`, which has 0.
-- label = functions.name
-- function_id = functions.function_id
-- value BIGINT: [the metric's] The value of the samples whose stack starts with this path.
-- self BIGINT: [the metric's] The value of the samples whose stack is this path.
WITH valued AS (
  SELECT v.experiment_id, v.metric, c.call_node, c.depth, c.function_id, v.attributed, v.exclusive
  FROM tree_values v JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine) AND m.mode = in_mode::VARCHAR
  JOIN default_metrics d ON d.experiment_id = v.experiment_id AND v.metric = COALESCE(of_metric::VARCHAR, d.metric)
  JOIN call_nodes_wide c ON c.experiment_id = v.experiment_id AND c.call_node = v.call_node
)
SELECT v.experiment_id, n.experiment, in_mode::VARCHAR AS mode, v.metric, t.unit,
  COALESCE(sum(v.exclusive) OVER (PARTITION BY v.experiment_id, v.metric ORDER BY v.call_node ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)::BIGINT AS position,
  v.depth AS level, f.name AS label, v.function_id, v.attributed AS value, v.exclusive AS self
FROM valued v
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN functions f USING (experiment_id, function_id)
ORDER BY n.experiment, v.metric, v.call_node
