package report

import (
	"context"
	"fmt"
	"strings"

	"stackmill/queries"
)

// Frames returns the frames of the stacks of one experiment's rows by `stack_id`, leaf first: the
// function's `name`, the instruction's `distance` from its start, `file` and `line`. With Inline,
// inlined functions are frames of their own without a distance, and the line of each function is
// where it calls the one inlined into it.
func (q *Question) Frames(ctx context.Context, rows []queries.Record) (map[int64][]queries.Record, error) {
	frames := map[int64][]queries.Record{}
	if len(rows) == 0 {
		return frames, nil
	}
	ids := make([]string, len(rows))
	for i, rec := range rows {
		ids[i] = fmt.Sprint(rec.Number("stack_id"))
	}
	levels := `SELECT experiment_id, location_id, "offset", function_id, file, line, 0 AS level FROM locations_wide`
	if q.Inline {
		levels = `SELECT v.experiment_id, v.location_id, l."offset", v.function_id, v.file, v.line, v.level
  FROM location_levels v JOIN locations_wide l USING (experiment_id, location)`
	}
	found, err := q.db.Records(ctx, "WITH "+q.named()+`, asked AS MATERIALIZED (
  SELECT * FROM frames WHERE experiment_id = `+queries.Quote(rows[0].Text("experiment_id"))+" AND stack_id IN ("+strings.Join(ids, ", ")+`)
), levels AS (
  `+levels+`
)
SELECT a.stack_id, n.name, l.file, l.line,
  CASE WHEN l.level = 0 AND n.size > 0 AND l."offset" - n."offset" BETWEEN 0 AND n.size THEN l."offset" - n."offset" END AS distance
FROM asked a
JOIN levels l ON l.experiment_id = a.experiment_id AND l.location_id = a.location_id
JOIN named n ON n.experiment_id = l.experiment_id AND n.function_id = l.function_id
ORDER BY a.stack_id, a."position", l.level DESC`)
	for _, f := range found {
		id := f.Number("stack_id")
		frames[id] = append(frames[id], f)
	}
	return frames, err
}
