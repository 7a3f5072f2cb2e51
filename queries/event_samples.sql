-- row: one sample of an event that has fields, with their values in one text
--
-- experiment_id = experiments.experiment_id
-- experiment VARCHAR: The name for people, unique within the store.
-- sample = samples.sample
-- time_ns = samples.time_ns
-- process = samples.process
-- thread_id = samples.thread_id
-- thread_name = samples.thread_name
-- cpu = samples.cpu
-- event = perf_samples.event
-- fields VARCHAR: `NAME=VALUE` for each field except `common_flags` and `common_pid`, separated by blanks; unsigned 64-bit numbers from 2^63 on, such as the kernel's addresses, are hexadecimal. The macro `event` has them as columns.
SELECT s.experiment_id, e.experiment, s.sample, s.time_ns, s.process, s.thread_id, s.thread_name, s.cpu, f.event, f.fields
FROM (
  SELECT f.experiment_id, f.sample, any_value(p.event) AS event, string_agg(d.field || '=' ||
    CASE WHEN f.number < 0 AND NOT d.signed THEN printf('0x%x', f.number) ELSE COALESCE(f.text, f.number::VARCHAR) END, ' ' ORDER BY f.position)
    FILTER (d.field NOT IN ('common_flags', 'common_pid')) AS fields
  FROM event_fields f
  JOIN perf_samples p ON p.experiment_id = f.experiment_id AND p.sample = f.sample
  JOIN event_formats d ON d.experiment_id = f.experiment_id AND d.event = p.event AND d.position = f.position
  GROUP BY f.experiment_id, f.sample
) f
JOIN samples_wide s ON s.experiment_id = f.experiment_id AND s.sample = f.sample
LEFT JOIN experiment_names e ON e.experiment_id = s.experiment_id
