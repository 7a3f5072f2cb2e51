package acceptance

import "testing"

// What a good recording does not tell must be said.
func TestProblems(t *testing.T) {
	for _, test := range []struct {
		recording, severity, reason string
		file                        string // empty: any
		rows                        int64
	}{
		{"recur_raw", "warning", "cpu-time-mismatch", "profile", 1}, // 100 ms ticks, accounted as 10
		{"threads_raw", "warning", "cpu-time-mismatch", "profile", 1},
		{"recur", "warning", "cpu-time-mismatch", "", 0},
		{"recur", "warning", "collector-warning", "log.xml", 1}, // the timer's period was changed
		{"heap", "info", "untraced-calls", "heaptrace", 1},      // aligned_alloc
		{"heap", "info", "realloc-without-old-address", "heaptrace", 1},
		{"forkexec", "info", "descendant-without-data", "_f2.er", 1},
		{"forkexec", "info", "descendant-without-data", "", 3},
		{"forkexec", "warning", "collector-warning", "_f2_x1.er/log.xml", 1},
	} {
		t.Run(test.recording+"/"+test.reason+"/"+test.file, func(t *testing.T) {
			n := number(t, shared.DB, `SELECT count(*) FROM problems JOIN experiments USING (experiment_id)
				WHERE experiment = ? AND severity = ? AND reason = ? AND (file = ? OR ? = '')`,
				experiment(test.recording), test.severity, test.reason, test.file, test.file)
			if n != test.rows {
				t.Errorf("%d rows, want %d", n, test.rows)
			}
		})
	}
	// Of a good recording nothing is lost.
	query(t, shared.DB, func(r row) error {
		var experiment, message string
		err := r.Scan(&experiment, &message)
		t.Errorf("%s: %s", experiment, message)
		return err
	}, `SELECT experiment, message FROM problems JOIN experiments USING (experiment_id)
		WHERE severity = 'error' AND experiment <> 'java.er'`) // java: a library is not in the archive
}
