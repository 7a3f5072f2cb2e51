package symbols

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/internal/corpus"
	"stackmill/pipeline"
)

// A missing file with a part of a program's debug information is one problem of the program, which
// says what is unknown because of it.
func TestMissingDebugFiles(t *testing.T) {
	dir := filepath.Join(folder, "missing debug files")
	if err := corpus.Inlined(dir); err != nil {
		t.Fatal(err)
	}
	programs := filepath.Join(dir, "symfs/tmp/inlined/bin")
	want := map[string]struct{ file, text string }{
		"cxx_split_4": {"cxx_split_4-second.dwo", "The inlined functions"},
		"cxx_split_5": {"cxx_split_5-first.dwo", "The inlined functions"},
		"cxx_dwz_4":   {"common_4", "the inlined functions"},
		"cxx_sup":     {"common_sup", "the inlined functions"},
	}
	var recordings []string
	for program, x := range want {
		if err := os.Remove(filepath.Join(programs, x.file)); err != nil {
			t.Fatal(err)
		}
		recordings = append(recordings, filepath.Join(dir, "perf", program+".data"))
	}
	db, err := ingest(filepath.Join(dir, "store"), pipeline.Options{SymFS: filepath.Join(dir, "symfs")}, recordings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	got := map[string]int{}
	query(t, db, func(r *sql.Rows) error {
		var experiment, severity, file, message string
		err := r.Scan(&experiment, &severity, &file, &message)
		program := strings.TrimSuffix(experiment, ".data")
		x := want[program]
		if severity != "warning" || filepath.Base(file) != program || !strings.Contains(message, x.file) || !strings.Contains(message, x.text) || !strings.Contains(message, " unit") {
			t.Errorf("%s: %s of %s: %s", program, severity, file, message)
		}
		got[program]++
		return err
	}, `SELECT e.experiment, severity, file, message FROM problems JOIN experiments e USING (experiment_id) WHERE reason = 'missing-debug-information'`)
	for program := range want {
		if got[program] != 1 {
			t.Errorf("%s: %d problems", program, got[program])
		}
	}
}
