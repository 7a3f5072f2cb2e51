SELECT 'experiments' AS what, experiment, '' AS mode, '' AS metric, count(*) AS rows, 0 AS a, 0 AS b FROM experiments GROUP BY ALL
UNION ALL SELECT 'labels', experiment, label || '=' || value, '', 1, 0, 0 FROM labels
UNION ALL SELECT 'functions', experiment, mode, metric, count(*), sum(exclusive), sum(inclusive) FROM function_metrics GROUP BY ALL
UNION ALL SELECT 'inlined', experiment, mode, metric, count(*), sum(exclusive), sum(inclusive) FROM inline_function_metrics GROUP BY ALL
UNION ALL SELECT 'calls', experiment, mode, metric, count(*), sum(attributed), count(DISTINCT other) FROM callers_callees GROUP BY ALL
UNION ALL SELECT 'paths', experiment, mode, metric, count(*), sum(attributed), sum(exclusive * depth) FROM call_tree GROUP BY ALL
UNION ALL SELECT 'lines', experiment, mode, metric, count(*), sum(exclusive), sum(inclusive * line) FROM line_metrics GROUP BY ALL
UNION ALL SELECT 'source', experiment, mode, metric, count(*), sum(exclusive), sum(length(text)) FROM source GROUP BY ALL
UNION ALL SELECT 'instructions', experiment, mode, metric, count(*), sum(exclusive), sum(length(text)) FROM disasm GROUP BY ALL
UNION ALL SELECT 'modules', experiment, mode, metric, count(*), sum(exclusive), sum(inclusive) FROM module_metrics GROUP BY ALL
UNION ALL SELECT 'data', experiment, mode, metric, count(*), sum(value), 0 FROM data_object_metrics GROUP BY ALL
UNION ALL SELECT 'threads', experiment, mode, metric, count(*), sum(value), 0 FROM thread_metrics GROUP BY ALL
UNION ALL SELECT 'stacks', experiment, mode, metric, count(*), sum(value), count(DISTINCT stack_id) FROM stack_metrics GROUP BY ALL
UNION ALL SELECT 'rollup', metric, '', '', count(*), sum(exclusive), sum(inclusive) FROM function_rollup GROUP BY ALL
UNION ALL SELECT 'wrong', experiment, mode, metric, count(*), 0, 0 FROM conservation GROUP BY ALL
ORDER BY ALL
