-- row: a part of one metric's value of one function, line or other thing, computed from the tree of stacks: `FROM passing('function')`. The value of a thing is the sum of its rows
-- rules: S10
--
-- parameter what VARCHAR: The kind of thing: `instruction`, `function`, `line` (of a function), `source line`, `module` or `load object`; with inlined functions as frames of their own, `inline function`, `inline line` or `inline source line`; or `inlined place`, a row of `source_inlined`.
--
-- experiment_id = experiments.experiment_id
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- key BIGINT: The thing's id. Lines and places have none: `hash(function_id, file, line) >> 1` for a line of a function, `hash(file, line) >> 1` for a source line, `hash(file, line, path, inlined_file) >> 1` for an inlined place.
-- exclusive BIGINT: [the metric's] The value of the samples whose leaf is in the thing.
-- inclusive BIGINT: [the metric's] The value of the samples whose stack contains the thing, each counted once.
WITH levels AS (
  SELECT v.experiment_id, v.location, v.location_id, v.function_id, v.file, CASE WHEN v.file = '' THEN 0 ELSE v.line END AS line, v.level, v.path,
    v.innermost OR what::VARCHAR NOT LIKE 'inline%' AS leaf, l.file AS own_file, l.line AS own_line
  FROM location_levels v JOIN locations_wide l USING (experiment_id, location)
  WHERE v.level = 0 OR what::VARCHAR LIKE 'inline%'
),
things AS (
  SELECT v.experiment_id, v.location, v.leaf, CASE
    WHEN what::VARCHAR = 'instruction' THEN v.location_id
    WHEN what::VARCHAR LIKE '%function' THEN v.function_id
    WHEN what::VARCHAR = 'module' THEN f.module_id
    WHEN what::VARCHAR = 'load object' THEN f.load_object_id
    WHEN what::VARCHAR LIKE '%source line' THEN (hash(v.file, v.line) >> 1)::BIGINT
    WHEN what::VARCHAR LIKE '%line' THEN (hash(v.function_id, v.file, v.line) >> 1)::BIGINT
    WHEN v.level > 0 AND v.own_file <> '' THEN (hash(v.own_file, v.own_line, v.path, v.file) >> 1)::BIGINT
    END AS key
  FROM levels v LEFT JOIN functions f USING (experiment_id, function_id)
),
keys AS (
  SELECT experiment_id, location, key, bool_or(leaf) AS leaf FROM things WHERE key IS NOT NULL GROUP BY ALL
),
held AS (
  SELECT n.experiment_id, n.node, n.last, n.modes, k.key FROM node_modes n JOIN keys k USING (experiment_id, location)
),
-- Nodes with one key are a family, in the modes that show them. If nodes of a key are shown
-- in different modes, there is a family for each mode.
compared AS (
  SELECT *, min(modes) OVER (PARTITION BY experiment_id, key) AS least, max(modes) OVER (PARTITION BY experiment_id, key) AS most FROM held
),
families AS (
  SELECT experiment_id, node, last, key,
    unnest(CASE WHEN least = most THEN [modes] ELSE list_filter([modes & 1, modes & 2, modes & 4], lambda bit: bit <> 0) END) AS modes
  FROM compared
),
-- Of nodes below each other, the topmost counts: it includes the others' values.
outermost AS (
  SELECT experiment_id, node, modes, key
  FROM (SELECT *, max(last) OVER (PARTITION BY experiment_id, key, modes ORDER BY node ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS ended FROM families)
  WHERE ended IS NULL OR ended < node
),
passed AS (
  SELECT o.experiment_id, o.modes, v.metric, o.key, sum(v.value)::BIGINT AS value
  FROM outermost o JOIN node_values v USING (experiment_id, node)
  GROUP BY ALL
),
ended AS (
  SELECT experiment_id, mode, metric, location, sum(value)::BIGINT AS value FROM leaf_values GROUP BY ALL
)
SELECT p.experiment_id, m.mode, p.metric, p.key, 0::BIGINT AS exclusive, p.value AS inclusive
FROM passed p JOIN modes m ON p.modes & by_mode(m.mode, 1, 2, 4) <> 0
UNION ALL
SELECT e.experiment_id, e.mode, e.metric, k.key, e.value, 0 FROM ended e JOIN keys k USING (experiment_id, location) WHERE k.leaf
