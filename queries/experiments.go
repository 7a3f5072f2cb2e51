package queries

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// ListExperiments returns a row for each experiment: the columns of the view
// experiments, the numbers of errors and warnings, its path, and when it was ingested.
func (db *DB) ListExperiments(ctx context.Context) (*sql.Rows, error) {
	commits := []string{"(NULL, NULL, NULL)"}
	for _, e := range db.Experiments {
		commits = append(commits, "("+Quote(e.ExperimentID, e.Path, e.Ingested.UTC().Format(time.RFC3339))+")")
	}
	return db.QueryContext(ctx, `WITH commits(experiment_id, path, ingested) AS (VALUES `+strings.Join(commits, ", ")+`)
SELECT e.*,
  (SELECT count(*) FROM problems p WHERE p.experiment_id = e.experiment_id AND p.severity = 'error') AS errors,
  (SELECT count(*) FROM problems p WHERE p.experiment_id = e.experiment_id AND p.severity = 'warning') AS warnings,
  c.path, c.ingested
FROM experiments e LEFT JOIN commits c USING (experiment_id) ORDER BY experiment`)
}
