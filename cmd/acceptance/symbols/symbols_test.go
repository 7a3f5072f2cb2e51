// Package symbols compares the names of recorded functions that are hard to name with the programs'
// sources.
package symbols

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
)

var (
	folder string // of the recordings
	shared *queries.DB
)

func TestMain(m *testing.M) {
	suite.Main(m, func(dir string) (db *queries.DB, err error) {
		folder = dir
		if err := corpus.Symbols(folder); err != nil {
			return nil, err
		}
		shared, err = ingest(filepath.Join(folder, "store"), pipeline.Options{SymFS: filepath.Join(folder, "symfs")}, filepath.Join(folder, "perf"))
		return shared, err
	})
}

// ingest makes a store of recordings, with only the debug files in the options.
func ingest(store string, o pipeline.Options, paths ...string) (*queries.DB, error) {
	o.Store, o.PerfMaps = store, filepath.Join(folder, "maps")
	return suite.Open(o, paths...)
}

func query(t *testing.T, db *queries.DB, scan func(*sql.Rows) error, text string, args ...any) {
	t.Helper()
	suite.Query(t, db.DB, scan, text, args...)
}

// shares returns the exclusive shares of a load object's functions in a mode, by name and the
// module's base name.
func shares(t *testing.T, db *queries.DB, experiment, mode, object string) map[string]float64 {
	t.Helper()
	list := map[string]float64{}
	sum := 0.0
	query(t, db, func(r *sql.Rows) error {
		var function, module string
		var value float64
		err := r.Scan(&function, &module, &value)
		list[function+" "+filepath.Base(module)] += value
		sum += value
		return err
	}, `SELECT function, module, exclusive::DOUBLE FROM function_metrics
		WHERE experiment = ? AND mode = ? AND metric IN ('cpu-clock:u', 'totalcpu') AND load_object = ? AND exclusive > 0`, experiment, mode, object)
	for name := range list {
		list[name] /= sum
	}
	return list
}

// agree compares shares with the parts according to the source.
func agree(t *testing.T, name string, got map[string]float64, parts map[string]float64) {
	t.Helper()
	sum := 0.0
	for _, part := range parts {
		sum += part
	}
	for function, part := range parts {
		if want := part / sum; got[function] < 0.8*want || got[function] > 1.2*want {
			t.Errorf("%s: %s has %.3f, want %.3f", name, function, got[function], want)
		}
	}
	for function, share := range got {
		if _, ok := parts[function]; !ok && share > 0.02 {
			t.Errorf("%s: also %s with %.3f", name, function, share)
		}
	}
}

// Functions whose symbols have no type, or no size, have their own time (S3).
func TestAssembler(t *testing.T) {
	agree(t, "assembler", shares(t, shared, "assembler.data", "user", "assembler"), map[string]float64{
		"spin_2 (unknown)": 2, "spin_3 (unknown)": 3, "spin_4 (unknown)": 4, "spin_5 (unknown)": 5,
		"spin_6 (unknown)": 6, "spin_7 (unknown)": 7, "static_8 (unknown)": 8,
	})
}

// Nested functions have the names of the enclosing functions as scopes, from debug information;
// without it, their symbols' names.
func TestNestedFunctions(t *testing.T) {
	for _, name := range []string{"nested_O0", "nested_O2", "nested_lto"} {
		agree(t, name, shares(t, shared, name+".data", "user", name), map[string]float64{
			"one::inner nested.c": 10, "two::inner nested.c": 20, "two::inner::innermost nested.c": 30, "two::spread nested.c": 40,
		})
	}
	agree(t, "nested_plain", shares(t, shared, "nested_plain.data", "user", "nested_plain"), map[string]float64{
		"inner.0 (unknown)": 10, "inner.1 (unknown)": 20, "innermost.2 (unknown)": 30, "spread.3 (unknown)": 40,
	})
}

// Static functions that link-time optimization renamed have their original names, and their modules
// distinguish them (S5).
func TestOptimizedTogether(t *testing.T) {
	for _, name := range []string{"privates_dw4", "privates_dw5"} {
		agree(t, name, shares(t, shared, name+".data", "user", name), map[string]float64{"work privates.c": 1, "work privates2.c": 4})
	}
}

// In user mode, all versions of a Java method are one function; in other modes, there are as many
// as in the list of generated code (S14).
func TestMethodVersions(t *testing.T) {
	rows := map[string]int{}
	sums := map[string]float64{}
	query(t, shared, func(r *sql.Rows) error {
		var mode, kind string
		var n int
		var sum float64
		err := r.Scan(&mode, &kind, &n, &sum)
		rows[mode+" "+kind], sums[mode] = n, sum
		return err
	}, `SELECT mode, kind, count(*), sum(exclusive)::DOUBLE FROM function_metrics
		WHERE experiment = 'tiers.data' AND metric = 'cpu-clock:u' AND function = 'long Tiers.hash(long)' AND inclusive > 0 GROUP BY ALL`)
	if rows["user java"] != 1 || rows["machine dynamic"] < 2 || rows["machine dynamic"] != rows["expert dynamic"] || len(rows) != 3 {
		t.Errorf("functions of one method, by mode and kind: %v", rows)
	}
	if sums["user"] != sums["machine"] || sums["user"] == 0 {
		t.Errorf("time of the method by mode: %v", sums)
	}
	query(t, shared, func(r *sql.Rows) error {
		var name, kind string
		err := r.Scan(&name, &kind)
		if kind != "dynamic" {
			t.Errorf("%s is of kind %s", name, kind)
		}
		return err
	}, `SELECT f.name, f.kind FROM functions f JOIN experiments e USING (experiment_id)
		WHERE e.experiment = 'tiers.data' AND (f.name = 'Interpreter' OR f.name LIKE 'StubRoutines%' OR f.name LIKE '%stub')`)
}

// An archived copy of a program gets names from the debug file of its debug link, which is next to
// the recorded path or, with --symfs, at that path below the root.
func TestDebugLinks(t *testing.T) {
	debug, err := os.ReadFile(filepath.Join(folder, "debug/linked.debug"))
	if err != nil {
		t.Fatal(err)
	}
	static, names := map[string]float64{"<static>@0x1040 (unknown)": 1}, map[string]float64{"once linked.c": 1, "twice linked.c": 2}
	const recorded = "/tmp/symbols/bin/"
	for _, c := range []struct {
		place, symfs, dir string
		want              map[string]float64
	}{
		{"", "root", "", static},
		{"root" + recorded + "linked.debug", "root", "", names},
		{"root" + recorded + ".debug/linked.debug", "root", "", names},
		{"root/usr/lib/debug" + recorded + "linked.debug", "root", "", names},
		{"dir" + recorded + "linked.debug", "root", "dir", names},
		{"dir/elsewhere/linked.debug", "root", "dir", static},
	} {
		dir := t.TempDir()
		if c.place != "" {
			place := filepath.Join(dir, c.place)
			if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(place, debug, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		o := pipeline.Options{SymFS: filepath.Join(dir, c.symfs)}
		if c.dir != "" {
			o.DebugDirs = []string{filepath.Join(dir, c.dir)}
		}
		db, err := ingest(filepath.Join(dir, "store"), o, filepath.Join(folder, "exp/linked.er"))
		if err != nil {
			t.Fatal(err)
		}
		agree(t, "debug file at "+c.place, shares(t, db, "linked.er", "user", "linked"), c.want)
		db.Close()
	}
}
