-- row: the start of one period in which events may be missing in an experiment: nothing before its end is paired with anything after its start. The first one of each experiment is empty
--
-- experiment_id = experiments.experiment_id
-- from_ns BIGINT: [ns] Its start, from the founder's start.
-- until_ns BIGINT: [ns] The latest end of the periods that start until then.
-- cpus_until_ns BIGINT: [ns] The same without periods in which some CPUs were not recorded.
WITH gaps AS (
  SELECT experiment_id, t0_ns, t1_ns, reason FROM recording_gaps
  UNION ALL
  SELECT experiment_id, -9223372036854775807, IF(status IN ('partial', 'failed'), 9223372036854775807, -9223372036854775807), 'lost' FROM experiments
)
SELECT experiment_id, t0_ns AS from_ns, max(t1_ns) OVER earlier AS until_ns, max(t1_ns) FILTER (reason = 'lost') OVER earlier AS cpus_until_ns
FROM gaps WINDOW earlier AS (PARTITION BY experiment_id ORDER BY t0_ns RANGE UNBOUNDED PRECEDING)
