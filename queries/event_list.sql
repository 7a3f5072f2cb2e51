-- row: one field of one event whose fields the recording describes, whether or not it has samples
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- event = event_formats.event
-- samples BIGINT: [count] The samples of the event.
-- position = event_formats.position
-- field = event_formats.field
-- type = event_formats.type
-- size = event_formats.size
-- is_text = event_formats.is_text
--
-- invariant whole: A sample has all fields of its event or, if it was recorded without its data, none, unless the data end before a field.
--   SELECT f.experiment_id, f.sample, f.event, count(*) FROM event_fields_wide f
--   JOIN (SELECT experiment_id, event, count(*) AS fields FROM event_formats GROUP BY ALL) d USING (experiment_id, event)
--   ANTI JOIN (FROM problems WHERE reason = 'short-fields') USING (experiment_id)
--   GROUP BY f.experiment_id, f.sample, f.event HAVING count(*) <> any_value(d.fields)
-- invariant described: Each field of a sample is described, as a text or a number.
--   SELECT f.* FROM event_fields_wide f LEFT JOIN event_formats d USING (experiment_id, event, position)
--   WHERE d.field IS NULL OR (f.text IS NULL) = d.is_text OR (f.number IS NULL) <> d.is_text
WITH counted AS (
  SELECT experiment_id, event, count(*) AS samples FROM perf_samples GROUP BY ALL
)
SELECT d.experiment_id, e.experiment, d.event, COALESCE(c.samples, 0) AS samples, d.position, d.field, d.type, d.size, d.is_text
FROM event_formats d
LEFT JOIN counted c USING (experiment_id, event)
LEFT JOIN experiment_names e USING (experiment_id)
