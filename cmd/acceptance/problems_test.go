package acceptance

import "testing"

// says checks how many rows of problems report what a good recording lacks. Without a
// file all are counted.
func says(rows int64, severity, reason, file string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		n := number(t, shared.DB, `SELECT count(*) FROM problems JOIN experiments USING (experiment_id)
			WHERE experiment = ? AND severity = ? AND reason = ? AND (file = ? OR ? = '')`, experiment(m.recording), severity, reason, file, file)
		if n != rows {
			t.Errorf("%d rows, want %d", n, rows)
		}
	}
}

// Of a good recording nothing is lost, even if a library is not in its archive (java).
func TestProblems(t *testing.T) {
	query(t, shared.DB, func(r row) error {
		var experiment, message string
		err := r.Scan(&experiment, &message)
		t.Errorf("%s: %s", experiment, message)
		return err
	}, `SELECT experiment, message FROM problems JOIN experiments USING (experiment_id)
		WHERE severity = 'error'`)
}
