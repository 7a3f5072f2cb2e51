-- row: one label of one experiment
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- label VARCHAR: The label's name.
-- value VARCHAR: The label's value, e.g. `2026-11-21` for `night`.
SELECT l.experiment_id, n.experiment, l.label, l.value
FROM experiment_labels l JOIN experiment_names n USING (experiment_id)
