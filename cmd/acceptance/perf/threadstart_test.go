package perf

import (
	"database/sql"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestThreadStarts checks stacks of OpenMP's worker threads. These threads begin in a function of
// libgomp that, like the C library that calls it, has no name and no frame pointer: the stacks that
// end there lack no caller (S18). The numbers of the threads prove it independently: no stack of the
// main thread is among them, because such a stack would lack main. The report has both classes, and
// the warning counts only lost callers.
func TestThreadStarts(t *testing.T) {
	const recording = "p_omp_fp.data"
	type class struct {
		Reason string
		Main   bool
	}
	got := map[class]int{}
	query(t, func(r *sql.Rows) error {
		var c class
		var n int
		err := r.Scan(&c.Reason, &c.Main, &n)
		got[c] = n
		return err
	}, `SELECT l.reason, s.thread_id = p.pid, count(*) FROM samples s JOIN experiment_names USING (experiment_id) JOIN processes p USING (experiment_id, process)
		JOIN (SELECT DISTINCT experiment_id, stack, reason FROM mode_leaves WHERE mode = 'machine') l USING (experiment_id, stack)
		WHERE experiment = $1 GROUP BY ALL`, recording)
	const begins, lost = "no caller is missing: the thread begins here", "the stack ends before its thread's start"
	want := map[class]int{{begins, false}: 350, {lost, false}: 43, {lost, true}: 364}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	functions := map[string]string{}
	query(t, func(r *sql.Rows) error {
		var function, object string
		err := r.Scan(&function, &object)
		functions[function] = object
		return err
	}, `SELECT "function", load_object FROM cut_stacks WHERE experiment = $1 AND mode = 'machine' AND reason = $2`, recording, begins)
	if d := cmp.Diff(map[string]string{"<static>@0x1cbbc": "libgomp.so.1.0.0"}, functions); d != "" {
		t.Error(d)
	}
	var message string
	query(t, func(r *sql.Rows) error { return r.Scan(&message) },
		"SELECT message FROM problems JOIN experiment_names USING (experiment_id) WHERE experiment = $1 AND reason = 'cut-stacks'", recording)
	if want := "53.8 % of cpu-clock:u is on stacks that end before their thread's start: callers are missing there (stackmill report cut-stacks)"; message != want {
		t.Errorf("%s, want %s", message, want)
	}
}
