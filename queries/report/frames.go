package report

import (
	"context"
	"fmt"
	"strings"

	"stackmill/queries"
)

// Frames returns the frames of the stacks of one experiment's rows, each from the leaf,
// by `stack_id`: the function's `name`, the instruction's `distance` from its start, `file`
// and `line`. If the request asks for inlined functions, they are frames of their own, without
// a distance, and a function's line is that of the call that was inlined.
func (q *Question) Frames(ctx context.Context, rows []queries.Record) (map[int64][]queries.Record, error) {
	frames := map[int64][]queries.Record{}
	if len(rows) == 0 {
		return frames, nil
	}
	ids := make([]string, len(rows))
	for i, rec := range rows {
		ids[i] = fmt.Sprint(rec.Number("stack_id"))
	}
	level := "l.function_id, l.file, l.line, 0 AS level FROM locations l"
	if q.Inline {
		level = "l.function_id, l.file, l.line, l.level FROM location_levels l"
	}
	found, err := q.db.Records(ctx, "WITH "+q.named()+`, asked AS MATERIALIZED (
  SELECT * FROM frames WHERE experiment_id = `+queries.Quote(rows[0].Text("experiment_id"))+" AND stack_id IN ("+strings.Join(ids, ", ")+`)
)
SELECT a.stack_id, n.name, v.file, v.line, CASE WHEN v.level = 0 AND n.size > 0 AND l."offset" - n."offset" BETWEEN 0 AND n.size THEN l."offset" - n."offset" END AS distance
FROM asked a
JOIN locations l ON l.experiment_id = a.experiment_id AND l.location_id = a.location_id
JOIN (SELECT l.experiment_id, l.location_id, `+level+`) v ON v.experiment_id = a.experiment_id AND v.location_id = a.location_id
JOIN named n ON n.experiment_id = a.experiment_id AND n.function_id = v.function_id
ORDER BY a.stack_id, a."position", v.level DESC`)
	for _, f := range found {
		id := f.Number("stack_id")
		frames[id] = append(frames[id], f)
	}
	return frames, err
}
