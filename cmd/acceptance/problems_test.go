package acceptance

import "testing"

// says checks how many problems a good recording has with a severity and reason, in one file or, if
// file is empty, in all.
func says(rows int64, severity, reason, file string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		n := number(t, shared.DB, `SELECT count(*) FROM problems JOIN experiments USING (experiment_id)
			WHERE experiment = ? AND severity = ? AND reason = ? AND (file = ? OR ? = '')`, experiment(m.recording), severity, reason, file, file)
		if n != rows {
			t.Errorf("%d rows, want %d", n, rows)
		}
	}
}

// A good recording loses no data, even if a library is missing in its archive (java).
func TestProblems(t *testing.T) {
	query(t, shared.DB, func(r row) error {
		var experiment, message string
		err := r.Scan(&experiment, &message)
		t.Errorf("%s: %s", experiment, message)
		return err
	}, `SELECT experiment, message FROM problems JOIN experiments USING (experiment_id)
		WHERE severity = 'error'`)
}
