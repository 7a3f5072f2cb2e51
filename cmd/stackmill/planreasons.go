//go:build cgo

package main

import (
	"context"
	"slices"

	"stackmill/pipeline/plan"
)

// reasons explains data loss that no task's report explains: it adds an error recorded with the
// experiment to the row of the input.
func (s *planState) reasons(ctx context.Context) error {
	if !slices.ContainsFunc(s.rows, func(b plan.Outcome) bool { return b.Unexplained() }) {
		return nil
	}
	db, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	records, err := db.Records(ctx, `SELECT experiment_id, arg_min(concat(file, ': ', message), problem) AS why FROM problems WHERE severity = 'error' GROUP BY ALL`)
	if err != nil {
		return err
	}
	why := map[string]string{}
	for _, r := range records {
		why[r.Text("experiment_id")] = r.Text("why")
	}
	for i := range s.rows {
		if b := &s.rows[i]; b.Unexplained() {
			b.Why = why[b.ExperimentID]
		}
	}
	return nil
}
