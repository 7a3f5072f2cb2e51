-- row: one phase of an experiment: a time range that a label `phase.NAME` names (`stackmill label test.1.er phase.warmup=0s..10s`)
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- label VARCHAR: The phase's name. A phase with several time ranges has a row for each.
-- t0_ns BIGINT: [ns] The phase's start, since the start of the first process; missing if the phase begins with the experiment.
-- t1_ns BIGINT: [ns] The phase's end (exclusive); missing if the phase lasts to the experiment's end.
WITH pieces AS (
  SELECT experiment_id, substr(label, 7) AS label, unnest(string_split(value, ' ')) AS piece FROM experiment_labels WHERE label LIKE 'phase.%'
),
ends AS (
  SELECT experiment_id, label, split_part(piece, '..', 1) AS t0, split_part(piece, '..', 2) AS t1 FROM pieces WHERE contains(piece, '..')
),
-- A time is seconds since the start, or a timestamp in UTC.
moments AS (
  SELECT m.*, COALESCE((TRY_CAST(regexp_extract(t0, '^(.*)s$', 1) AS DECIMAL(28, 9)) * 1000000000)::BIGINT, epoch_ns(TRY_CAST(t0 AS TIMESTAMP)) - epoch_us(e.started) * 1000) AS t0_ns,
    COALESCE((TRY_CAST(regexp_extract(t1, '^(.*)s$', 1) AS DECIMAL(28, 9)) * 1000000000)::BIGINT, epoch_ns(TRY_CAST(t1 AS TIMESTAMP)) - epoch_us(e.started) * 1000) AS t1_ns
  FROM ends m LEFT JOIN experiments e USING (experiment_id)
)
SELECT m.experiment_id, n.experiment, m.label, m.t0_ns, m.t1_ns
FROM moments m JOIN experiment_names n USING (experiment_id)
WHERE (m.t0_ns IS NOT NULL OR m.t0 = '') AND (m.t1_ns IS NOT NULL OR m.t1 = '')
