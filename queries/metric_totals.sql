-- row: one metric that an experiment's data can provide, with its total
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- title = metrics.title
-- kind = metrics.kind
-- value BIGINT: [the metric's] The value of `<Total>`, 0 if nothing was recorded.
-- data_objects = metrics.data_objects
--
-- invariant names: Every row's experiment exists, and every `<Total>` has a row.
--   SELECT experiment_id, mode, metric FROM metric_totals WHERE experiment IS NULL
--   UNION ALL
--   SELECT experiment_id, mode, metric FROM function_metrics f ANTI JOIN metric_totals USING (experiment_id, mode, metric)
SELECT t.experiment_id, n.experiment, m.mode, t.metric, t.unit, t.title, t.kind, COALESCE(f.exclusive, 0)::BIGINT AS value, t.data_objects
FROM metrics t
CROSS JOIN modes m
LEFT JOIN experiment_names n USING (experiment_id)
LEFT JOIN (FROM function_metrics WHERE function = '<Total>' AND kind = 'artificial') f
  ON f.experiment_id = t.experiment_id AND f.metric = t.metric AND f.mode = m.mode
