-- row: one experiment: what was recorded, where, when and by what
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- path = experiments.path
-- format = experiments.format
-- format_version = experiments.format_version
-- collector = experiments.collector
-- host = experiments.host
-- os = experiments.os
-- arch = experiments.arch
-- cpus = experiments.cpus
-- clock_mhz = experiments.clock_mhz
-- page_size = experiments.page_size
-- word_bits = experiments.word_bits
-- target = experiments.target
-- command = experiments.command
-- directory = experiments.directory
-- started = experiments.started
-- started_from = experiments.started_from
-- duration_ns = experiments.duration_ns
-- processes = experiments.processes
-- samples = experiments.samples
-- status = experiments.status
-- comment = experiments.comment
-- pid = processes.pid: The process id of the first process.
-- kinds VARCHAR: The kinds of samples from which the experiment's metrics are computed, separated by commas.
-- errors BIGINT: [count] The number of problems that lost data.
-- warnings BIGINT: [count] The number of problems that lost no data.
--
-- invariant names: Every experiment has one row and a name.
--   SELECT experiment_id, count(*) FROM headers GROUP BY ALL HAVING count(*) > 1 OR count(experiment) = 0
SELECT e.experiment_id, e.experiment, e.path,
  e.format, e.format_version, e.collector, e.host, e.os, e.arch, e.cpus, e.clock_mhz, e.page_size, e.word_bits,
  e.target, e.command, e.directory, e.started, e.started_from, e.duration_ns, e.processes, e.samples, e.status, e.comment, p.pid,
  COALESCE(k.kinds, '') AS kinds, COALESCE(b.errors, 0) AS errors, COALESCE(b.warnings, 0) AS warnings
FROM experiments e
LEFT JOIN processes p ON p.experiment_id = e.experiment_id AND p.process = 1
LEFT JOIN (SELECT experiment_id, string_agg(DISTINCT kind, ', ' ORDER BY kind) AS kinds FROM metrics GROUP BY ALL) k ON k.experiment_id = e.experiment_id
LEFT JOIN (
  SELECT experiment_id, count(*) FILTER (severity = 'error') AS errors, count(*) FILTER (severity = 'warning') AS warnings FROM problems GROUP BY ALL
) b ON b.experiment_id = e.experiment_id
