-- row: one reason why stacks end before they reach the start of their thread, with the outermost function of these stacks
-- rules: S18, S19, S22
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- reason = recorded_stacks.reason
-- function_id = functions.function_id: The outermost function of the stacks; its caller is missing.
-- function = functions.name
-- load_object = load_objects.name
-- samples BIGINT: [count] The number of samples with such stacks.
-- value BIGINT: [the metric's] The value of the samples with such stacks.
-- share DOUBLE: The value's fraction of the metric's `<Total>`, from 0 to 1.
--
-- invariant names: Every row's experiment, unit, reason, function and load object exist.
--   SELECT * FROM cut_stacks WHERE experiment IS NULL OR unit IS NULL OR reason = '' OR function IS NULL OR load_object IS NULL
-- invariant shares: The shares of a metric sum to 1 at most, and complete stacks are not listed.
--   SELECT experiment_id, mode, metric, sum(share) FROM cut_stacks GROUP BY ALL HAVING sum(share) > 1.000001
--   UNION ALL
--   SELECT experiment_id, mode, metric, sum(value) FROM (
--     SELECT experiment_id, mode, metric, value FROM cut_stacks
--     UNION ALL
--     SELECT s.experiment_id, s.mode, v.metric, -v.value FROM stack_values v JOIN (
--       SELECT c.experiment_id, c.mode, c.stack FROM mode_leaves c JOIN mode_nodes n USING (experiment_id, mode, node)
--       WHERE c.reason <> '' AND (n.rule <> 'S18' OR n.depth > 1)
--     ) s USING (experiment_id, stack)
--   ) GROUP BY ALL HAVING sum(value) <> 0
WITH cut AS (
  SELECT s.experiment_id, s.mode, v.metric, s.node, s.reason, sum(v.samples) AS samples, sum(v.value) AS value
  FROM mode_leaves s JOIN stack_values v USING (experiment_id, stack)
  WHERE s.reason <> '' AND s.node > 0
  GROUP BY ALL
),
-- The outermost frames are those of depth 1, except the one that represents lost frames.
ends AS (
  SELECT experiment_id, mode, depth, node, last, location, rule FROM mode_nodes WHERE depth <= 2
),
second AS (
  SELECT s.experiment_id, s.mode, s.node, s.last, s.location
  FROM (FROM ends WHERE depth = 2) s ASOF JOIN (FROM ends WHERE depth = 1) f ON f.experiment_id = s.experiment_id AND f.mode = s.mode AND f.node <= s.node
  WHERE f.rule = 'S18'
),
outermost AS (
  SELECT experiment_id, mode, node, last, location FROM ends WHERE depth = 1 AND rule <> 'S18'
  UNION ALL
  SELECT * FROM second
),
rooted AS (
  SELECT c.*, o.last, o.location
  FROM cut c ASOF JOIN outermost o ON o.experiment_id = c.experiment_id AND o.mode = c.mode AND o.node <= c.node
),
-- Three tables are joined by experiment_id and another key in two steps: otherwise the
-- optimizer joins by experiment_id alone, which multiplies the tables.
sums AS (
  SELECT r.experiment_id, r.mode, r.metric, r.reason, l.function_id, sum(r.samples)::BIGINT AS samples, sum(r.value)::BIGINT AS value
  FROM rooted r JOIN locations_wide l USING (experiment_id, location)
  WHERE r.node <= r.last
  GROUP BY ALL
),
totals AS (
  SELECT experiment_id, metric, sum(value) AS total FROM stack_values GROUP BY ALL
),
shared AS (
  SELECT s.*, COALESCE(s.value / NULLIF(t.total, 0), 0)::DOUBLE AS share FROM sums s JOIN totals t USING (experiment_id, metric)
),
named AS (
  SELECT s.*, f.name, f.load_object_id FROM shared s LEFT JOIN functions f USING (experiment_id, function_id)
)
SELECT s.experiment_id, n.experiment, s.mode, s.metric, t.unit, s.reason, s.function_id, s.name AS "function",
  o.name AS load_object, s.samples, s.value, s.share
FROM named s
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN metrics t USING (experiment_id, metric)
LEFT JOIN load_objects o USING (experiment_id, load_object_id)
