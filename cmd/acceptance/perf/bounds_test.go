package perf

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"stackmill/pipeline"
	"stackmill/queries"
)

// If a period or time in a real recording is impossible, only that value is lost, and it is
// reported.
func TestValuesOutOfBounds(t *testing.T) {
	const recording, samples, period = "p_recur_fp.data", 1643, 500250
	const timeAt, periodAt = 8 + 16, 8 + 24 // IP, TID, TIME, PERIOD
	whole, err := os.ReadFile(filepath.Join(folder, "perf", recording))
	if err != nil {
		t.Fatal(err)
	}
	number := func(db *queries.DB, question string) (n int64) {
		if err := db.QueryRow(question, recording).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, tt := range []struct {
		name  string
		at    int
		value uint64
		cut   bool // the recording has no features
		lost  int64
	}{
		{"period", periodAt, 1 << 63, false, period},
		{"period of more than the recording", periodAt, 1 << 35, true, period},
		{"late", timeAt, 1 << 60, false, 0},
		{"late, and nothing tells", timeAt, 1 << 60, true, 0},
		{"early", timeAt, 12345, false, 0},
		{"before the first", timeAt, 1 << 40, false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := append([]byte(nil), whole...)
			le := binary.LittleEndian
			at, n := le.Uint64(file[40:]), 0
			for ; n < 800; at += uint64(le.Uint16(file[at+6:])) {
				if le.Uint32(file[at:]) == 9 {
					if n++; n == 800 {
						break
					}
				}
			}
			le.PutUint64(file[at+uint64(tt.at):], tt.value)
			if tt.cut {
				clear(file[72:104])
			}
			path, store := filepath.Join(t.TempDir(), recording), filepath.Join(t.TempDir(), "store")
			if err := os.WriteFile(path, file, 0o644); err != nil {
				t.Fatal(err)
			}
			results, err := ingest(store, path)
			if err != nil || len(results) != 1 || results[0].Status != pipeline.Partial || results[0].Samples != samples {
				t.Fatal(results, err)
			}
			told := 0
			for _, p := range results[0].Problems {
				if p.Reason == "value-out-of-bounds" && p.Offset == int64(at) && p.Count == 1 {
					told++
				}
			}
			if told != 1 {
				t.Errorf("not told at %d: %v", at, results[0].Problems)
			}
			db, err := queries.Open(context.Background(), store)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			// Without features the event has the name that follows from its attributes.
			const total = `SELECT sum(inclusive) FROM function_metrics WHERE function = '<Total>' AND mode = 'user' AND experiment = ? AND metric LIKE 'cpu-clock:%' AND metric NOT LIKE '%.samples'`
			if got, want := number(db, total), number(shared, total)-tt.lost; got != want {
				t.Errorf("<Total> is %d, want %d", got, want)
			}
			const duration = "SELECT duration_ns FROM experiments WHERE experiment = ?"
			if got, want := number(db, duration), number(shared, duration); got != want {
				t.Errorf("it is %d ns long, want %d", got, want)
			}
			const seconds = "SELECT count(DISTINCT second) FROM usage_values JOIN experiment_names USING (experiment_id) WHERE experiment = ?"
			if got, want := number(db, seconds), number(shared, seconds); got != want {
				t.Errorf("its time line has %d seconds, want %d", got, want)
			}
		})
	}
}
