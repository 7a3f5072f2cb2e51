-- row: one caller or callee of a fragment of stacks (a sequence of functions, each called by the one before it), or the fragment itself: `FROM fragment_callers_callees(['main', 'f'])`
-- rules: S12, S16, S19, S22, S23, S24, S26
--
-- parameter functions VARCHAR[]: The functions' names, each called by the one before it: as in `function`, or as gprofng or perf write them; several names on separate lines are alternatives.
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- relation VARCHAR: What `other` is: `caller` of the fragment's first function, `callee` of its last one, or `self`, the fragment itself.
-- other_id = call_values.other_id
-- other = functions.name: The name of the caller or callee; for `self`, of the fragment's last function.
-- attributed BIGINT: [the metric's] Of the value of the stacks that contain the fragment, the part that came from the caller or went to the callee; for `self`, the value of the stacks that end with the fragment. If a stack contains the fragment several times, the occurrence nearest to the leaf counts.
WITH RECURSIVE parts AS (
  SELECT i AS place, unnest(string_split(functions[i], chr(10))) AS name FROM (SELECT unnest(range(1, len(functions::VARCHAR[]) + 1)) AS i)
),
meant AS (
  SELECT DISTINCT f.experiment_id, f.function_id, p.place
  FROM (SELECT experiment_id, function_id, unnest([name, gprofng_name, perf_name]) AS name FROM functions_wide) f JOIN parts p USING (name)
),
-- From the last function up: the callers of the first function of the chain so far.
chains AS (
  SELECT c.experiment_id, c.call_node, c.last, c.parent, m.place
  FROM call_nodes_wide c JOIN meant m USING (experiment_id, function_id)
  WHERE m.place = len(functions::VARCHAR[])
  UNION ALL
  SELECT h.experiment_id, h.call_node, h.last, c.parent, m.place
  FROM chains h
  JOIN call_nodes_wide c ON c.experiment_id = h.experiment_id AND c.call_node = h.parent
  JOIN meant m ON m.experiment_id = c.experiment_id AND m.function_id = c.function_id AND m.place = h.place - 1
),
pieces AS (
  SELECT experiment_id, call_node, last, parent AS caller FROM chains WHERE place = 1
),
-- A stack with several fragments counts for the one nearest to the leaf: the one above loses the
-- stack, and so does its callee.
nested AS (
  SELECT i.experiment_id, i.call_node, max(o.call_node) AS outer_node
  FROM pieces i JOIN pieces o ON o.experiment_id = i.experiment_id AND o.call_node < i.call_node AND o.last >= i.call_node
  GROUP BY ALL
),
valued AS (
  SELECT v.experiment_id, m.mode, v.metric, v.call_node, v.attributed, v.exclusive
  FROM tree_values v SEMI JOIN pieces USING (experiment_id) JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine)
),
callees AS (
  SELECT c.experiment_id, c.call_node, c.last, c.function_id, p.call_node AS piece
  FROM call_nodes_wide c JOIN pieces p ON p.experiment_id = c.experiment_id AND c.parent = p.call_node
),
neighbors AS (
  SELECT v.experiment_id, v.mode, v.metric, 'caller' AS relation, p.caller AS other_node, v.attributed
  FROM pieces p JOIN valued v USING (experiment_id, call_node) WHERE p.caller IS NOT NULL
  UNION ALL
  SELECT v.experiment_id, v.mode, v.metric, 'caller', p.caller, -v.attributed
  FROM nested n JOIN valued v USING (experiment_id, call_node) JOIN pieces p ON p.experiment_id = n.experiment_id AND p.call_node = n.outer_node
  WHERE p.caller IS NOT NULL
  UNION ALL
  SELECT v.experiment_id, v.mode, v.metric, 'self', p.call_node, v.exclusive
  FROM pieces p JOIN valued v USING (experiment_id, call_node)
  UNION ALL
  SELECT v.experiment_id, v.mode, v.metric, 'callee', c.call_node, v.attributed
  FROM callees c JOIN valued v USING (experiment_id, call_node)
  UNION ALL
  SELECT v.experiment_id, v.mode, v.metric, 'callee', c.call_node, -v.attributed
  FROM nested n JOIN valued v USING (experiment_id, call_node)
  JOIN callees c ON c.experiment_id = n.experiment_id AND c.piece = n.outer_node AND n.call_node BETWEEN c.call_node AND c.last
),
sums AS (
  SELECT n.experiment_id, n.mode, n.metric, n.relation, c.function_id AS other_id, sum(n.attributed)::BIGINT AS attributed
  FROM neighbors n JOIN call_nodes_wide c ON c.experiment_id = n.experiment_id AND c.call_node = n.other_node
  GROUP BY ALL
)
SELECT s.experiment_id, e.experiment, s.mode, s.metric, t.unit, s.relation, s.other_id, f.name AS other, s.attributed
FROM sums s
LEFT JOIN experiment_names e USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN functions f ON f.experiment_id = s.experiment_id AND f.function_id = s.other_id
