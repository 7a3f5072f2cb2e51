package perf

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/queries"
)

// calls lists the callers and callees in the sources of testdata/perf/callers. Only the programs'
// own functions are in it. A tail call counts as a call by the caller (S26).
var calls = map[string][]string{
	"main":       {"outer", "called_one", "called_two", "entered", "driver", "shared"},
	"routine":    {"shared"},
	"outer":      {"hot", "twice", "mixed", "byptr", "tailer", "copies", "sorter", "leafy"},
	"hot":        {"tiny", "hot.cold", "hot.cold.1", "fail"},
	"hot.cold":   {"fail"},
	"twice":      {"tiny2"},
	"mixed":      {"tiny", "tiny3"},
	"byptr":      {"small"},
	"tailer":     {"jumper", "tiny3"},
	"jumper":     {"tiny3"},
	"leafy":      {"small"},
	"called_one": {"lookup", "lookup.part.0"},
	"called_two": {"lookup", "lookup.part.0"},
	"entered":    {"lookup"},
	"driver":     {"hot"},
	"lookup":     {"lookup.part.0", "spin"},
	"hot.cold.1": {"fail"},
	"fail":       {"spin"},

	"lookup.part.0": {"spin"},
}

// Leaves without a frame, procedure linkage tables and parts of functions have the source's
// callers, however the stacks were recorded (S12, S22, S26).
func TestCallers(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	if _, err := ingest(store, filepath.Join(folder, "callers")); err != nil {
		t.Fatal(err)
	}
	db, err := queries.Open(context.Background(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, program := range []string{"lazy", "sec", "now", "plain", "clang", "parts_gcc", "parts_clang", "spawn"} {
		for _, mode := range []string{"fp", "dwarf"} {
			t.Run(program+"."+mode, func(t *testing.T) {
				c := callers{t, db, program + "." + mode + ".data"}
				c.edges(program)
				c.noStubs()
				c.ownRoots()
				if mode == "fp" && strings.HasPrefix(program, "parts") {
					c.noGaps()
				}
			})
		}
		t.Run(program+".none", func(t *testing.T) {
			callers{t, db, program + ".none.data"}.stubsStay(program)
		})
	}
	proof, err := queries.Check(t.Context(), store, queries.CheckOptions{})
	if err != nil || len(proof.Wrong) > 0 {
		t.Error(err, proof.Wrong)
	}
}

// callers are the callers in one recording.
type callers struct {
	t          *testing.T
	db         *queries.DB
	experiment string
}

func (c callers) query(scan func(*sql.Rows) error, text string, args ...any) {
	c.t.Helper()
	rows, err := c.db.Query(text, args...)
	if err != nil {
		c.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		c.t.Fatal(err)
	}
}

// number returns the first column of the only row.
func (c callers) number(text string, args ...any) (n int64) {
	c.t.Helper()
	c.query(func(r *sql.Rows) error { return r.Scan(&n) }, text, args...)
	return n
}

// edges compares the edges between functions of the program with the source, in each mode; every
// edge of the source with more than a few samples must exist.
func (c callers) edges(program string) {
	found := map[string]bool{}
	c.query(func(r *sql.Rows) error {
		var mode, caller, callee string
		if err := r.Scan(&mode, &caller, &callee); err != nil {
			return err
		}
		found[caller+" "+callee] = true
		if !slices.Contains(calls[caller], callee) {
			c.t.Errorf("%s: %s does not call %s", mode, caller, callee)
		}
		return nil
	}, `WITH own AS (SELECT f.* FROM functions_wide f JOIN load_objects o USING (experiment_id, load_object_id)
			WHERE o.path LIKE '/tmp/callers/%' AND f.kind NOT IN ('plt', 'static')
				AND (NOT starts_with(f.linkage_name, '_') OR f.linkage_name LIKE '%.part.%'))
		SELECT DISTINCT v.mode, a.linkage_name, b.linkage_name
		FROM callers_callees v JOIN own a ON a.experiment_id = v.experiment_id AND a.function_id = v.other_id
		JOIN own b ON b.experiment_id = v.experiment_id AND b.function_id = v.function_id
		WHERE v.experiment = ? AND v.relation = 'caller' AND v.attributed > 0`, c.experiment)
	want := []string{"main outer", "outer hot", "outer twice", "outer leafy", "leafy small", "byptr small", "outer tailer", "outer copies"}
	switch program {
	case "parts_gcc":
		want = []string{"called_one lookup.part.0", "called_two lookup.part.0", "entered lookup", "lookup lookup.part.0", "driver hot"}
	case "spawn":
		want = []string{"main shared"}
	case "parts_clang":
		want = []string{"driver hot", "hot hot.cold.1", "called_one lookup", "entered lookup"}
	}
	for _, w := range want {
		if !found[w] {
			c.t.Errorf("no edge %s", w)
		}
	}
}

// noStubs checks that the callers have the time of the procedure linkage table below main, and that
// functions that only call others have none.
func (c callers) noStubs() {
	all := c.number(`SELECT COALESCE(sum(inclusive), 0) FROM function_metrics WHERE experiment = ? AND mode = 'user' AND metric = 'cpu-clock:u' AND "function" = 'main'`, c.experiment)
	for _, mode := range []string{"user", "machine"} {
		below := c.number(`SELECT COALESCE(sum(attributed), 0) FROM callers_callees WHERE experiment = ? AND mode = ? AND metric = 'cpu-clock:u'
			AND relation = 'caller' AND "function" = '@plt' AND other NOT IN ('<Total>', '<Missing-caller>')`, c.experiment, mode)
		if below > 0 {
			c.t.Errorf("%s: %d ns are left in the procedure linkage table", mode, below)
		}
	}
	outer := c.number(`SELECT COALESCE(sum(exclusive), 0) FROM function_metrics WHERE experiment = ? AND mode = 'user' AND metric = 'cpu-clock:u' AND "function" = 'outer'`, c.experiment)
	if all == 0 || outer*50 > all {
		c.t.Errorf("outer has %d of %d ns", outer, all)
	}
}

// ownRoots checks that main is only on the first thread's stacks.
func (c callers) ownRoots() {
	n := c.number(`SELECT count(*) FROM samples_wide s JOIN processes p USING (experiment_id, process)
		JOIN raw_stacks r ON r.experiment_id = s.experiment_id AND r.raw_stack_id = s.raw_stack_id
		JOIN frames f ON f.experiment_id = s.experiment_id AND f.stack_id = r.user_stack_id
		JOIN functions g ON g.experiment_id = s.experiment_id AND g.function_id = f.function_id
		JOIN experiments e ON e.experiment_id = s.experiment_id
		WHERE e.experiment = ? AND s.thread_id <> p.pid AND g.name = 'main'`, c.experiment)
	if n > 0 {
		c.t.Errorf("main is on the stacks of %d samples of other threads", n)
	}
}

// noGaps checks that no callers are missing: all code of the program has frames.
func (c callers) noGaps() {
	if n := c.number(`SELECT count(*) FROM callers_callees WHERE experiment = ? AND other = '<Missing-caller>' AND "function" IN ('main', 'driver', 'hot', 'lookup', 'spin', 'fail')`, c.experiment); n > 0 {
		c.t.Errorf("callers are missing at %d edges", n)
	}
}

// stubsStay checks that samples with only a frame in the procedure linkage table keep it, in each
// mode.
func (c callers) stubsStay(program string) {
	want := c.number(`SELECT COALESCE(sum(s.n), 0) FROM (SELECT experiment_id, raw_stack_id, count(*) AS n FROM samples_wide GROUP BY ALL) s
		JOIN raw_frames r USING (experiment_id, raw_stack_id) JOIN locations_wide l USING (experiment_id, location_id)
		JOIN functions f ON f.experiment_id = l.experiment_id AND f.function_id = l.function_id
		JOIN experiments e ON e.experiment_id = s.experiment_id WHERE e.experiment = ? AND f.kind = 'plt'`, c.experiment)
	if want == 0 && !strings.HasPrefix(program, "parts") {
		c.t.Error("no sample is in the procedure linkage table")
	}
	modes := 0
	c.query(func(r *sql.Rows) error {
		var mode string
		var got int64
		modes++
		err := r.Scan(&mode, &got)
		if got != want {
			err = fmt.Errorf("%s: %d samples are in @plt, want %d", mode, got, want)
		}
		return err
	}, `SELECT mode, sum(exclusive) FROM function_metrics WHERE experiment = ? AND metric = 'cpu-clock:u.samples' AND "function" = '@plt' GROUP BY ALL`, c.experiment)
	if want > 0 && modes != 3 {
		c.t.Errorf("@plt is in %d modes", modes)
	}
}
