package symbols

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

// holders reads from the source which functions may hold the region at a line: from the comment on
// or after the line.
func holders(t *testing.T) func(line int) []string {
	t.Helper()
	b, err := os.ReadFile("../../../testdata/symbols/src/regions.cpp")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	return func(line int) []string {
		for _, text := range lines[max(line-1, 0):] {
			if _, list, ok := strings.Cut(text, "// held by "); ok {
				return strings.Split(list, ", ")
			}
		}
		return nil
	}
}

// is reports whether a name that is shown stands for a function in the source. The name in the
// source may lack parameters and template arguments.
func is(name, source string) bool {
	rest, ok := strings.CutPrefix(name, source)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "(<:") || strings.HasSuffix(source, "<") || strings.HasSuffix(source, "::"))
}

// functions returns the names of a program's own functions.
func functions(t *testing.T, program string) (names []string) {
	t.Helper()
	f, err := elf.Open(filepath.Join(folder, "symfs/tmp/symbols/bin", program))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for g := range symtab.Read(f, nil).Finish().Functions.All() {
		if g.Kind == funcinfo.Normal {
			names = append(names, g.Name)
		}
	}
	return names
}

// always marks functions in the source that hold a region even if they are not in the program,
// because they were inlined into several others.
const always = "always"

// Each body of a parallel region belongs to the function that holds the region: the one in which it
// was written, or into which that was inlined. User mode shows it there (S11).
func TestRegions(t *testing.T) {
	held := holders(t)
	bodies := map[string]int{}
	query(t, shared, func(r *sql.Rows) error {
		var experiment, name, main string
		var line int
		if err := r.Scan(&experiment, &name, &main, &line); err != nil {
			return err
		}
		program := strings.TrimSuffix(experiment, ".data")
		if line == 0 {
			_, after, _ := strings.Cut(name, " from line ")
			for _, c := range after {
				if c < '0' || c > '9' {
					break
				}
				line = 10*line + int(c-'0')
			}
		}
		list := held(line)
		own := functions(t, program)
		i := slices.IndexFunc(list, func(source string) bool {
			return source == always || slices.ContainsFunc(own, func(name string) bool { return is(name, source) })
		})
		switch {
		case i < 0:
			t.Errorf("%s: %s at line %d is held by none of %q", program, name, line, list)
		case list[i] == always && !is(main, list[0]):
			t.Errorf("%s: %s is shown in %q, it was written in %s", program, name, main, list[0])
		case list[i] != always && !is(main, list[i]):
			t.Errorf("%s: %s is shown in %q, %s holds it", program, name, main, list[i])
		}
		bodies[program]++
		return nil
	}, `SELECT e.experiment, f.name, coalesce(g.name, ''), f.body_line FROM functions f
		JOIN experiments e ON e.experiment_id = f.experiment_id
		LEFT JOIN functions g ON g.experiment_id = f.experiment_id AND g.function_id = f.body_of
		WHERE f.kind = 'body' AND e.experiment LIKE 'regions_%' AND e.experiment NOT LIKE '%plain%'`)
	for _, level := range []string{"O0", "O1", "O2", "O3"} {
		for _, compiler := range []string{"gcc", "clang"} {
			if n := bodies["regions_"+compiler+"_"+level]; n < 15 {
				t.Errorf("%s %s: %d bodies", compiler, level, n)
			}
		}
	}
}

// Without debug information, the machine code tells which functions hold regions. If a function was
// inlined into two functions that pass on a body, only gcc's symbols tell.
func TestRegionsWithoutDebugInformation(t *testing.T) {
	common := map[string][]string{
		"regions_gcc_plain":   nil,
		"regions_clang_plain": {"both(int)", "shared(int)"}, // inlined where it was called
	}
	want := []string{"Grid<double>::fill()", "Grid<int>::fill()", "host_of_inlined(int)", "host_of_two(int)", "lambda_host(long)", "looping()",
		"nested()", "plain()", "reducing()", "sections()", "serial(int)", "tasking()", "tasks_in_region_in_lambda()"}
	for program, unheld := range common {
		got := map[string]bool{}
		loose := 0
		query(t, shared, func(r *sql.Rows) error {
			var name, main string
			err := r.Scan(&name, &main)
			if main == "" {
				loose++
			} else {
				got[main] = true
			}
			return err
		}, `SELECT f.name, coalesce(g.name, '') FROM functions f
			JOIN experiments e ON e.experiment_id = f.experiment_id
			LEFT JOIN functions g ON g.experiment_id = f.experiment_id AND g.function_id = f.body_of
			WHERE f.kind = 'body' AND e.experiment = ?`, program+".data")
		for _, name := range want {
			if !got[name] {
				t.Errorf("%s: no body is shown in %s", program, name)
			}
			delete(got, name)
		}
		if delete(got, "both(int)"); program == "regions_gcc_plain" {
			if !got["shared(int)"] {
				t.Errorf("%s: no body is shown in shared(int)", program)
			}
			delete(got, "shared(int)")
		}
		if len(got) > 0 || loose != len(unheld) {
			t.Errorf("%s: bodies are also shown in %v, and %d in none", program, got, loose)
		}
	}
}

// User mode only shows bodies whose function cannot be determined, and loses no time.
func TestRegionsInUserMode(t *testing.T) {
	query(t, shared, func(r *sql.Rows) error {
		var experiment, function string
		err := r.Scan(&experiment, &function)
		if !strings.Contains(experiment, "clang_plain") {
			t.Errorf("%s: user mode shows %s", experiment, function)
		}
		return err
	}, `SELECT experiment, function FROM function_metrics WHERE experiment LIKE 'regions_%' AND mode = 'user' AND kind = 'body' AND inclusive > 0`)
	query(t, shared, func(r *sql.Rows) error {
		var experiment string
		var user, machine int64
		err := r.Scan(&experiment, &user, &machine)
		if user != machine || user == 0 {
			t.Errorf("%s: %d in user mode, %d in machine mode", experiment, user, machine)
		}
		return err
	}, `SELECT experiment, sum(exclusive) FILTER (mode = 'user')::BIGINT, sum(exclusive) FILTER (mode = 'machine')::BIGINT FROM function_metrics
		WHERE experiment LIKE 'regions_%' AND metric = 'cpu-clock:u' AND load_object LIKE 'regions_%' GROUP BY ALL`)
}
