-- row: a part of one metric's value of the stacks that end in, and that pass, one thing, summed over the tree of stacks: `FROM passing('function')`; a thing's value is the sum of its rows
-- rules: S10
--
-- parameter what VARCHAR: The kind of thing: `instruction`, `function`, `line` (of a function), `source line`, `module` or `load object`; with inlined functions as functions of their own, `inline function`, `inline line` or `inline source line`; or `inlined place`, a row of `source_inlined`.
--
-- experiment_id = experiments.experiment_id
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- key BIGINT: The thing: its id or, where it has none, half the `hash` of the columns that tell it apart: `function_id`, `file` and `line`, as far as it has them; of a place, `file`, `line`, `path` and `inlined_file`.
-- exclusive BIGINT: [the metric's] The value of the samples whose leaf is there.
-- inclusive BIGINT: [the metric's] The value of the samples whose stack passes there, each counted once.
WITH levels AS MATERIALIZED (
  SELECT v.experiment_id, v.location, v.location_id, v.function_id, v.file, CASE WHEN v.file = '' THEN 0 ELSE v.line END AS line, v.level, v.path,
    v.innermost OR what::VARCHAR NOT LIKE 'inline%' AS leaf, l.file AS own_file, l.line AS own_line
  FROM location_levels v JOIN locations l USING (experiment_id, location)
  WHERE v.level = 0 OR what::VARCHAR LIKE 'inline%'
),
things AS MATERIALIZED (
  SELECT v.experiment_id, v.location, v.leaf, CASE
    WHEN what::VARCHAR = 'instruction' THEN v.location_id
    WHEN what::VARCHAR LIKE '%function' THEN v.function_id
    WHEN what::VARCHAR = 'module' THEN f.module_id
    WHEN what::VARCHAR = 'load object' THEN f.load_object_id
    WHEN what::VARCHAR LIKE '%source line' THEN CASE WHEN v.file <> '' THEN (hash(v.file, v.line) >> 1)::BIGINT END
    WHEN what::VARCHAR LIKE '%line' THEN (hash(v.function_id, v.file, v.line) >> 1)::BIGINT
    WHEN v.level > 0 AND v.own_file <> '' THEN (hash(v.own_file, v.own_line, v.path, v.file) >> 1)::BIGINT
    END AS key
  FROM levels v LEFT JOIN functions f USING (experiment_id, function_id)
),
keys AS MATERIALIZED (
  SELECT experiment_id, location, key, bool_or(leaf) AS leaf FROM things WHERE key IS NOT NULL GROUP BY ALL
),
numbers AS MATERIALIZED (
  SELECT experiment_id, key, row_number() OVER () AS number FROM (SELECT DISTINCT experiment_id, key FROM keys)
),
numbered AS MATERIALIZED (
  SELECT k.experiment_id, k.location, n.number FROM keys k JOIN numbers n USING (experiment_id, key)
),
-- Nodes of one thing are a family, in the modes that show them; those of a thing that
-- some nodes are shown as in other modes than others are one for each mode.
held AS MATERIALIZED (
  SELECT n.experiment_id, n.node, n.last, n.modes, k.number FROM node_modes n JOIN numbered k USING (experiment_id, location)
),
mixed AS MATERIALIZED (
  SELECT number FROM held GROUP BY number HAVING min(modes) <> max(modes)
),
families AS MATERIALIZED (
  SELECT h.experiment_id, h.node, h.last, h.modes, h.number FROM held h ANTI JOIN mixed USING (number)
  UNION ALL
  SELECT h.experiment_id, h.node, h.last, m.bit, h.number FROM held h SEMI JOIN mixed USING (number) JOIN modes m ON h.modes & m.bit <> 0
),
-- Of nodes below each other the first counts, which has the others' values. One number
-- orders a family's nodes after those of the families before it.
ordered AS MATERIALIZED (
  SELECT experiment_id, node, modes, number, (number * 8 + modes) << 32 | node AS first, (number * 8 + modes) << 32 | last AS last FROM families
),
outermost AS MATERIALIZED (
  SELECT experiment_id, node, modes, number
  FROM (SELECT *, max(last) OVER (ORDER BY first ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS ended FROM ordered)
  WHERE ended IS NULL OR ended < first
),
passed AS MATERIALIZED (
  SELECT o.experiment_id, o.modes, v.metric, o.number, sum(v.value)::BIGINT AS value
  FROM outermost o JOIN node_values v USING (experiment_id, node)
  GROUP BY ALL
),
ended AS MATERIALIZED (
  SELECT experiment_id, mode, metric, location, sum(value)::BIGINT AS value FROM leaf_values GROUP BY ALL
)
SELECT p.experiment_id, m.mode, p.metric, k.key, 0::BIGINT AS exclusive, p.value AS inclusive
FROM passed p JOIN numbers k ON k.number = p.number JOIN modes m ON p.modes & m.bit <> 0
UNION ALL
SELECT e.experiment_id, e.mode, e.metric, k.key, e.value, 0 FROM ended e JOIN keys k USING (experiment_id, location) WHERE k.leaf
