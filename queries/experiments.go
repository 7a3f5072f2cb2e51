package queries

import (
	"context"
	"database/sql"
	"strings"
)

// ExtraColumns are the columns of ListExperiments that the view experiments lacks.
var ExtraColumns = []string{"experiment", "errors", "warnings", "labels"}

// ListExperiments returns a row for each experiment, with these columns or all: the columns of the
// view experiments, the numbers of errors and warnings, and the labels as a JSON object.
func (db *DB) ListExperiments(ctx context.Context, columns ...string) (*sql.Rows, error) {
	all := "*"
	if len(columns) > 0 {
		all = strings.Join(columns, ", ")
	}
	return db.QueryContext(ctx, `
WITH found AS MATERIALIZED (
  SELECT experiment_id, count(*) FILTER (severity = 'error') AS errors, count(*) FILTER (severity = 'warning') AS warnings
  FROM problems GROUP BY ALL
),
named AS MATERIALIZED (
  SELECT experiment_id, json_group_object(label, value) AS labels FROM labels GROUP BY ALL
)
SELECT `+all+` FROM (SELECT e.*, COALESCE(f.errors, 0) AS errors, COALESCE(f.warnings, 0) AS warnings, COALESCE(l.labels, '{}'::JSON) AS labels
FROM experiments e LEFT JOIN found f USING (experiment_id) LEFT JOIN named l USING (experiment_id)) ORDER BY experiment`)
}
