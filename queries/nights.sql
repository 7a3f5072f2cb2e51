-- row: one metric in one night of one series: the night's total values, by which a dashboard can follow all programs (`digest` says what changed)
--
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
-- metric = metrics.metric
-- unit = metrics.unit
-- series VARCHAR: The series, as in the view `series`.
-- program VARCHAR: The program's name.
-- night DATE: The date (UTC) on which the experiments started.
-- runs BIGINT: [count] The number of experiments.
-- hosts BIGINT: [count] The number of machines on which they were made.
-- value DOUBLE: [the metric's] The mean of the experiments' `<Total>`.
-- lowest BIGINT: [the metric's] The smallest `<Total>` of the experiments.
-- highest BIGINT: [the metric's] The largest `<Total>` of the experiments.
--
-- invariant all_runs: Every experiment with a start is in a night, for each of its metrics.
--   SELECT mode, metric FROM (SELECT mode, metric, sum(runs) AS runs FROM nights GROUP BY ALL) n
--   FULL JOIN (SELECT mode, metric, count(*) AS runs FROM metric_totals JOIN experiments USING (experiment_id) WHERE started IS NOT NULL GROUP BY ALL) t USING (mode, metric)
--   WHERE n.runs IS DISTINCT FROM t.runs
SELECT t.mode, t.metric, t.unit, s.series, s.program, s.started::DATE AS night, count(*) AS runs, count(DISTINCT s.host) AS hosts,
  avg(t.value) AS value, min(t.value) AS lowest, max(t.value) AS highest
FROM series s JOIN metric_totals t USING (experiment_id)
WHERE s.started IS NOT NULL
GROUP BY ALL
