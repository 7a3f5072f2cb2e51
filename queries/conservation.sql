-- row: one sum that does not match: parts that should sum to `<Total>`, but do not; an intact store has no rows
-- rules: S15, S19, S22, S30
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- what VARCHAR: Which sum does not match.
-- expected BIGINT: [the metric's] What the parts should sum to.
-- found BIGINT: [the metric's] What the parts sum to.
--
-- invariant empty: Every sample's value is in exactly one leaf function, line and instruction or in exactly one named reason, and the parts sum to `<Total>`.
--   SELECT * FROM conservation
WITH
-- This sums by function number, because views that join identifiers would read the functions
-- again.
function_parts AS (
  SELECT v.experiment_id, m.mode, v.metric, v.function_no, f.kind, v.exclusive, v.inclusive, f.name = '<Total>' AND f.kind = 'artificial' AS is_total
  FROM function_values v JOIN functions f USING (experiment_id, function_no) JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine)
),
stack_parts AS (
  SELECT experiment_id, mode, metric, node = 0 AS is_empty, sum(value) AS value FROM leaf_values GROUP BY ALL
),
-- Leaves of every kind and the empty stacks make up <Total>.
parts AS (
  SELECT experiment_id, in_user, in_expert, in_machine, metric, 'lines' AS what, sum(exclusive) AS found FROM line_values GROUP BY ALL
  UNION ALL
  SELECT experiment_id, in_user, in_expert, in_machine, metric, 'instructions', sum(exclusive) FROM pc_values GROUP BY ALL
  UNION ALL
  SELECT experiment_id, in_user, in_expert, in_machine, metric, 'modules', sum(exclusive) FROM module_values GROUP BY ALL
  UNION ALL
  SELECT experiment_id, in_user, in_expert, in_machine, metric, 'load objects', sum(exclusive) FROM object_values GROUP BY ALL
),
leaves AS (
  SELECT experiment_id, mode, metric, 'functions' AS what, sum(exclusive) AS found FROM function_parts WHERE NOT is_total GROUP BY ALL
  UNION ALL
  SELECT v.experiment_id, m.mode, v.metric, v.what, v.found FROM parts v JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine)
  UNION ALL
  SELECT p.experiment_id, p.mode, p.metric, w.what, p.value
  FROM stack_parts p CROSS JOIN (VALUES ('functions'), ('lines'), ('instructions'), ('modules'), ('load objects')) w(what)
  WHERE p.is_empty
),
-- No rule may leave a recorded stack without frames.
empty AS (
  SELECT DISTINCT s.experiment_id, s.mode, r.node FROM mode_leaves s JOIN recorded_stacks r USING (experiment_id, stack)
  WHERE s.node = 0 AND r.node > 0
),
located AS (
  SELECT t.experiment_id, t.node, t.last FROM stack_tree_wide t JOIN tree_frames f USING (experiment_id, frame) WHERE f.location IS NOT NULL
),
emptied AS (
  SELECT e.experiment_id, e.mode, count(DISTINCT e.node) AS found
  FROM empty e JOIN located l ON l.experiment_id = e.experiment_id AND e.node BETWEEN l.node AND l.last
  GROUP BY ALL
),
-- Values that do not depend on the mode must sum to <Total> in each mode.
usage AS (
  SELECT v.experiment_id, m.mode, v.metric, v.what, v.found
  FROM (
    SELECT experiment_id, metric, 'threads, CPUs and time' AS what, sum(value) AS found FROM usage_values GROUP BY ALL
    UNION ALL
    SELECT experiment_id, metric, 'samples', sum(value) FROM sample_metrics GROUP BY ALL
    UNION ALL
    SELECT experiment_id, metric, 'data objects', sum(value) FROM data_values_rows() GROUP BY ALL
  ) v CROSS JOIN modes m
),
-- A sample with a value of a metric with data objects is in data_samples once.
data_metrics AS (SELECT experiment_id, metric FROM metrics WHERE data_objects),
located_samples AS (
  SELECT v.experiment_id, v.metric, v.sample FROM sample_metrics v JOIN data_metrics d ON d.experiment_id = v.experiment_id AND d.metric = v.metric
),
data_counts AS (
  SELECT experiment_id, COALESCE(v.metric, '') AS metric, count(v.sample) AS expected, COALESCE(sum(d.samples), 0) AS found
  FROM located_samples v FULL JOIN (SELECT experiment_id, sample, count(*) AS samples FROM data_samples GROUP BY ALL) d USING (experiment_id, sample)
  GROUP BY ALL
),
nodes AS (SELECT experiment_id, call_node, up, function_no FROM call_nodes),
-- For an uneven node, `missing` tells how much is below it.
uneven AS (
  SELECT u.experiment_id, u.mode, u.metric, c.function_no, u.call_node, COALESCE(sum(t.attributed) FILTER (by_mode(u.mode, t.in_user, t.in_expert, t.in_machine)), 0) AS attributed, u.missing
  FROM (FROM uneven_nodes WHERE NOT inlined) u
  JOIN nodes c ON c.experiment_id = u.experiment_id AND c.call_node = u.call_node
  LEFT JOIN tree_values t ON t.experiment_id = u.experiment_id AND t.metric = u.metric AND t.call_node = u.call_node
  GROUP BY u.experiment_id, u.mode, u.metric, c.function_no, u.call_node, u.missing
),
roots AS (
  SELECT v.experiment_id, m.mode, v.metric, v.attributed
  FROM tree_values v JOIN (FROM nodes WHERE up = 0) c ON c.experiment_id = v.experiment_id AND c.call_node = v.call_node JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine)
),
-- A sum has a name and, for a function or node, a number. The expected and the found value come
-- from different rows, either of which may be missing.
sums AS (
  SELECT experiment_id, mode, metric, what, NULL::INTEGER AS function_no, NULL::INTEGER AS call_node, 0 AS expected, found FROM leaves
  UNION ALL
  SELECT experiment_id, mode, metric, what, NULL, NULL, 0, found FROM usage
  UNION ALL
  SELECT experiment_id, mode, metric, 'stacks', NULL, NULL, 0, value FROM stack_parts
  UNION ALL
  SELECT experiment_id, mode, '', 'stacks that a rule emptied', NULL, NULL, 0, found FROM emptied
  UNION ALL
  SELECT experiment_id, mode, metric, 'call tree', NULL, NULL, 0, attributed FROM roots
  UNION ALL
  SELECT p.experiment_id, p.mode, p.metric, w.what, NULL, NULL, p.inclusive, 0
  FROM function_parts p CROSS JOIN (VALUES ('functions'), ('lines'), ('instructions'), ('modules'), ('load objects'),
    ('threads, CPUs and time'), ('samples'), ('stacks'), ('call tree')) w(what)
  WHERE p.is_total
  UNION ALL
  SELECT p.experiment_id, p.mode, p.metric, 'data objects', NULL, NULL, p.inclusive, 0
  FROM function_parts p SEMI JOIN data_metrics d ON d.experiment_id = p.experiment_id AND d.metric = p.metric
  WHERE p.is_total
  UNION ALL
  SELECT c.experiment_id, m.mode, c.metric, 'samples with data objects', NULL, NULL, c.expected, c.found FROM data_counts c CROSS JOIN modes m
  UNION ALL
  SELECT experiment_id, mode, metric, IF(subject = 'function', 'unattributed', 'unattributed data objects'), NULL, NULL, 0, value FROM unattributed WHERE subject <> 'instruction'
  UNION ALL
  SELECT experiment_id, mode, metric, 'unattributed data objects', NULL, NULL, value, 0 FROM data_object_metrics WHERE kind = 'unknown'
  UNION ALL
  SELECT experiment_id, mode, metric, 'unattributed', NULL, NULL, exclusive, 0 FROM function_parts WHERE kind = 'unknown'
  UNION ALL
  SELECT experiment_id, mode, metric, 'unattributed', NULL, NULL, value, 0 FROM stack_parts WHERE is_empty
  UNION ALL
  SELECT experiment_id, mode, metric, 'call tree node', function_no, call_node, attributed, attributed - missing FROM uneven
  UNION ALL
  SELECT p.experiment_id, p.mode, p.metric, w.what, p.function_no, NULL, p.inclusive, 0
  FROM function_parts p CROSS JOIN (VALUES ('callers'), ('self and callees')) w(what)
  WHERE NOT p.is_total
  UNION ALL
  SELECT v.experiment_id, m.mode, v.metric, CASE v.relation WHEN 'caller' THEN 'callers' ELSE 'self and callees' END,
    v.function_no, NULL, 0, v.attributed
  FROM call_values v JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine) JOIN functions f USING (experiment_id, function_no)
  WHERE f.name <> '<Total>' OR f.kind <> 'artificial'
),
broken AS (
  SELECT experiment_id, mode, metric, what, function_no, call_node, sum(expected) AS expected, sum(found) AS found
  FROM sums GROUP BY ALL HAVING sum(expected) <> sum(found)
)
SELECT b.experiment_id, n.experiment, b.mode, b.metric, t.unit,
  b.what || COALESCE(' of ' || f.name, '') AS what, b.expected::BIGINT AS expected, b.found::BIGINT AS found
FROM broken b
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN functions f USING (experiment_id, function_no)
