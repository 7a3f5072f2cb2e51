-- row: one time in which events may be missing in an experiment, so that none before it is paired with one after it
--
-- experiment_id = experiments.experiment_id
-- from_ns BIGINT: [ns] Its start, from the founder's start.
-- until_ns BIGINT: [ns] The end of the latest gap that starts until then.
SELECT experiment_id, (-9223372036854775807)::BIGINT AS from_ns, 9223372036854775807::BIGINT AS until_ns
FROM problems WHERE reason = 'lost-records' GROUP BY experiment_id
