package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"stackmill/queries"
)

// readRows returns the rows of a statement. Each column fills the field of Row with its JSON name; a column without a
// field, and a value that the field cannot hold, are errors.
func readRows[Row any](ctx context.Context, db *queries.DB, statement string, args ...any) ([]Row, error) {
	records, err := db.Records(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(records)
	if err != nil {
		return nil, err
	}
	rows := []Row{}
	if len(records) == 0 {
		return rows, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&rows); err != nil {
		return nil, fmt.Errorf("rows of %T: %w", rows, err)
	}
	return rows, nil
}

// readRow returns the only row of a statement.
func readRow[Row any](ctx context.Context, db *queries.DB, statement string, args ...any) (row Row, err error) {
	rows, err := readRows[Row](ctx, db, statement, args...)
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("%d rows of %T, want one", len(rows), row)
	}
	if err != nil {
		return row, err
	}
	return rows[0], nil
}

// stackTexts is SQL for common table expressions: `stack_texts` has the functions of each stack in the table `wanted`
// (experiment_id, stack_id), from the root to the leaf, separated by semicolons as in `folded`.
const stackTexts = `stack_texts AS (
  SELECT p.experiment_id, p.stack_id, string_agg(replace(f.name, ';', ':'), ';' ORDER BY p."position" DESC) AS stack
  FROM (FROM frames JOIN (SELECT DISTINCT experiment_id, stack_id FROM wanted) USING (experiment_id, stack_id)) p
  JOIN functions f USING (experiment_id, function_id)
  GROUP BY ALL
)`
