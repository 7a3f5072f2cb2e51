-- row: one node of the tree of stacks, if the mode shows it and a stack with a value contains it: the data for drawing a flame graph
-- rules: S19
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- node = stack_tree.node: The node's number. The nodes below it have the numbers that follow; 0 is the root, `<Total>`.
-- parent = stack_tree.node: The nearest node toward the root that the mode shows: the caller's, or 0 if there is none; missing for the root.
-- last = stack_tree.last: The last node below this one, or its own number if there is none: a stack that ends at node x contains node n if `x.node BETWEEN n.node AND n.last`.
-- depth INTEGER: How many frames the mode shows on the path from the root to the node; 0 for the root.
-- function_id = functions.function_id
-- function = functions.name
-- load_object = load_objects.name: The load object that contains the instruction.
-- location_id = locations.location_id: The instruction; missing for the root.
-- exclusive BIGINT: [the metric's] The value of the samples whose stack ends at this node; for the root, of the samples without a stack.
-- inclusive BIGINT: [the metric's] The value of the samples whose stack contains this node.
--
-- invariant total: The root's inclusive value is the sum of the values of all leaves.
--   SELECT experiment_id, mode, metric, sum(passing), sum(ending) FROM (
--     SELECT v.experiment_id, m.mode, v.metric, v.value AS passing, 0 AS ending FROM node_values v CROSS JOIN modes m WHERE v.node = 0
--     UNION ALL
--     SELECT experiment_id, mode, metric, 0, value FROM leaf_values
--   ) GROUP BY ALL HAVING sum(passing) <> sum(ending)
WITH
-- A node's parent is the last node before it that is one level above, because nodes are numbered
-- in preorder.
levels AS (
  SELECT *, unnest([depth - 1, depth]) AS level FROM mode_nodes
),
called AS (
  SELECT *, max(CASE WHEN level = depth THEN node END) OVER (PARTITION BY experiment_id, mode, level ORDER BY node ROWS UNBOUNDED PRECEDING) AS parent
  FROM levels
),
placed AS (
  SELECT experiment_id, mode, node, COALESCE(parent, 0) AS parent, last, depth, location FROM called WHERE level < depth
  UNION ALL
  SELECT t.experiment_id, m.mode, t.node, NULL, t.last, 0, NULL FROM stack_tree_wide t CROSS JOIN modes m WHERE t.node = 0
),
-- Three tables are joined by experiment_id and another key in two steps: otherwise the
-- optimizer joins by experiment_id alone, which multiplies the tables.
valued AS (
  SELECT p.*, v.metric, v.value AS inclusive FROM placed p JOIN node_values v USING (experiment_id, node)
),
summed AS (
  SELECT v.*, COALESCE(e.value, 0) AS exclusive FROM valued v LEFT JOIN leaf_values e USING (experiment_id, mode, metric, node)
),
located AS (
  SELECT experiment_id, location, location_id, function_id, load_object_id FROM locations_wide
  UNION ALL
  SELECT experiment_id, NULL, NULL, function_id, load_object_id FROM functions WHERE name = '<Total>' AND kind = 'artificial'
),
named AS (
  SELECT l.experiment_id, l.location, l.location_id, l.function_id, f.name AS "function", o.name AS load_object
  FROM located l LEFT JOIN functions f USING (experiment_id, function_id)
  LEFT JOIN load_objects o ON o.experiment_id = l.experiment_id AND o.load_object_id = l.load_object_id
)
SELECT s.experiment_id, n.experiment, s.mode, s.metric, t.unit, s.node, s.parent, s.last, s.depth,
  l.function_id, l."function", l.load_object, l.location_id, s.exclusive, s.inclusive
FROM summed s
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN named l ON l.experiment_id = s.experiment_id AND l.location IS NOT DISTINCT FROM s.location
