package acceptance

import (
	"slices"
	"testing"

	"stackmill/cmd/acceptance/golden"
	"stackmill/queries"
)

// Every invariant of every view holds on the store of all recordings.
func TestInvariants(t *testing.T) {
	views, err := queries.Views()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views {
		for _, i := range v.Invariants {
			t.Run(v.Name+"/"+i.Name, func(t *testing.T) {
				if n := number(t, shared.DB, "SELECT count(*) FROM ("+i.SQL+")"); n != 0 {
					t.Errorf("%d rows contradict: %s", n, i.Doc)
				}
			})
		}
	}
}

// Threads and CPUs have gprofng's values: as sets, because gprofng numbers threads by appearance.
func TestThreadsAndCPUs(t *testing.T) {
	for _, c := range withGolden(t) {
		t.Run(c, func(t *testing.T) {
			x := corrected(t, c, readGolden(t, c))
			units := load(t, shared.DB, experiment(c)).units
			for view, table := range map[string]golden.Table{"thread_metrics": x.Threads, "cpu_metrics": x.CPUs} {
				for k, col := range table.Columns {
					var want, got []string
					for _, r := range table.Rows {
						if r.Name != totalFunction && !isZero(r.Values[k]) {
							want = append(want, r.Values[k])
						}
					}
					query(t, shared.DB, func(r row) error {
						var v int64
						err := r.Scan(&v)
						if v != 0 {
							got = append(got, golden.Print(units[col.Metric], v))
						}
						return err
					}, "SELECT value FROM "+view+" WHERE experiment = ? AND metric = ? AND mode = 'user'", experiment(c), col.Metric)
					slices.Sort(want)
					slices.Sort(got)
					if !slices.Equal(want, got) {
						t.Errorf("%s of %s: %v, want %v", view, col.Metric, got, want)
					}
				}
			}
		})
	}
}

// Programs without Java and OpenMP look the same in every mode, as in gprofng.
func TestModes(t *testing.T) {
	query(t, shared.DB, func(r row) error {
		var experiment, mode, metric, function string
		err := r.Scan(&experiment, &mode, &metric, &function)
		t.Errorf("%s: %s of %s is not the same in %s mode", experiment, metric, function, mode)
		return err
	}, `SELECT experiment, mode, metric, "function" FROM (
			SELECT * FROM function_metrics WHERE experiment NOT LIKE 'omp%'
		) GROUP BY experiment, metric, "function", function_id, exclusive, inclusive, mode
		QUALIFY count(*) OVER (PARTITION BY experiment, metric, function_id, exclusive, inclusive) <> 3`)
}

// In user mode the time of a parallel region's body belongs to the function that holds the region;
// other modes show the body (S11).
func TestBodies(t *testing.T) {
	for _, c := range []string{"omp_gcc", "omp_clang"} {
		bodies := number(t, shared.DB, "SELECT count(*) FROM function_metrics WHERE experiment = ? AND mode = 'user' AND kind = 'body'", experiment(c))
		if bodies != 0 {
			t.Errorf("%s: %d bodies in user mode", c, bodies)
		}
		for _, f := range []string{"loop_even", "reduce", "crit", "imbalance"} {
			const exclusive = `SELECT sum(exclusive) FROM function_metrics m JOIN functions f USING (experiment_id, function_id)
				LEFT JOIN functions holder ON holder.experiment_id = f.experiment_id AND holder.function_id = f.body_of
				WHERE experiment = ? AND mode = ? AND coalesce(holder.name, f.name) = ?`
			user := number(t, shared.DB, exclusive, experiment(c), "user", f)
			machine := number(t, shared.DB, exclusive, experiment(c), "machine", f)
			if user != machine {
				t.Errorf("%s: exclusive time of %s with its bodies: %d in user mode, %d in machine mode", c, f, user, machine)
			}
		}
	}
}
