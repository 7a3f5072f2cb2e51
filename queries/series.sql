-- row: one experiment in the series that it continues: experiments of one series were recorded in the same way, so that their values may be compared from night to night (`digest` and `trend` follow them)
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The experiment's name, unique within the store.
-- series VARCHAR: The series: `command`, `events` and `host_class` together. `digest --series` chooses other columns of this view, or labels.
-- program VARCHAR: The program's name, `experiments.target`.
-- command VARCHAR: The command line (for perf, that of `perf record`, with the frequency or period) without what changes from run to run: folders, temporary files, the output file (`-o`), the process that perf attached to (`-p`), and dates, numbers of nine digits or more, addresses, and UUIDs, which are each replaced by `*`.
-- events VARCHAR: What was recorded: the events of perf and of hardware counters, the values of pprof, and the kinds of other samples (`metrics.kind`), separated by commas.
-- host_class VARCHAR: The label `host_class`, which names machines of the same speed; empty without it.
-- host = experiments.host
-- os = experiments.os
-- arch = experiments.arch
-- cpus = experiments.cpus
-- started = experiments.started
--
-- invariant one_series: Every experiment is in one series.
--   SELECT experiment_id, count(*) FROM series GROUP BY ALL HAVING count(*) > 1 OR count(series) = 0
WITH commands AS (
  SELECT DISTINCT COALESCE(target, '') AS target, COALESCE(command, '') AS text FROM experiments
), recorded AS (
  SELECT target, text, CASE WHEN regexp_matches(text, '^\S*perf\s+record\s') THEN regexp_replace(text, '\s(-p|--pid)(\s+|=)[0-9,]+', '', 'g') ELSE text END AS attached FROM commands
), words AS (
  SELECT target, text, list_transform(string_split_regex(trim(regexp_replace(attached, '(^|\s)(-o|--output)(\s+|=)\S+', '\1', 'g')), '\s+'), lambda word: CASE
    WHEN starts_with(word, '/tmp/') OR starts_with(word, '/var/tmp/') OR starts_with(word, '/dev/shm/') OR starts_with(word, '/run/') THEN
      CASE WHEN regexp_extract(word, '[^/]*$') = target THEN target ELSE '*' END
    WHEN contains(word, '/') AND NOT starts_with(word, '-') THEN regexp_extract(word, '[^/]*$')
    ELSE word END) AS list
  FROM recorded
), normal AS (
  SELECT target, text, regexp_replace(array_to_string(list, ' '),
    '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|[0-9]{4}-[0-9]{2}-[0-9]{2}([T_ ][0-9:.Z+-]*)?|\b(0x)?[0-9a-f]{12,}\b|\b0x[0-9a-f]{5,}\b|[0-9]{9,}', '*', 'g') AS command
  FROM words
), events AS (
  SELECT experiment_id, string_agg(event, ', ' ORDER BY event) AS events FROM (
    SELECT DISTINCT experiment_id, CASE WHEN kind IN ('perf', 'hwc', 'pprof') THEN metric ELSE kind END AS event FROM metrics WHERE NOT ends_with(metric, '.samples')
  ) GROUP BY ALL
), classes AS (
  SELECT experiment_id, value AS host_class FROM experiment_labels WHERE label = 'host_class'
)
SELECT e.experiment_id, e.experiment,
  concat_ws(' ', COALESCE(NULLIF(n.command, ''), NULLIF(e.target, ''), '(unknown)'), '[' || m.events || ']', '@' || c.host_class) AS series,
  COALESCE(e.target, '') AS program, n.command, COALESCE(m.events, '') AS events, COALESCE(c.host_class, '') AS host_class,
  e.host, e.os, e.arch, e.cpus, e.started
FROM experiments e
JOIN normal n ON n.target = COALESCE(e.target, '') AND n.text = COALESCE(e.command, '')
LEFT JOIN events m USING (experiment_id)
LEFT JOIN classes c USING (experiment_id)
