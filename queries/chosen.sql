-- row: one experiment that a selector matches: `FROM chosen('night=2026-11-21')`; it is an error if there is none
--
-- parameter selector VARCHAR: An experiment's name or id, a pattern of names with `*` and `?`, or `LABEL=VALUE`. If no name or id is equal to it, it may also be the end of a name. `.er` may be left out.
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
WITH found AS (
  SELECT n.experiment_id, n.experiment, n.experiment_id = selector OR n.experiment = selector AS exact FROM experiment_names n
  WHERE exact OR ends_with('/' || n.experiment, '/' || selector) OR ends_with('/' || n.experiment, '/' || selector || '.er') OR n.experiment GLOB selector
    OR EXISTS (FROM experiment_labels l WHERE l.experiment_id = n.experiment_id AND l.label || '=' || l.value = selector)
)
SELECT experiment_id, experiment FROM found WHERE exact OR NOT (SELECT bool_or(exact) FROM found)
UNION ALL
SELECT error('no experiment in the store is ' || selector), NULL FROM (SELECT count(*) AS n FROM found) WHERE n = 0
