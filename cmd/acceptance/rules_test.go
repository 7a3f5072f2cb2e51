package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// rule is an effect that one of the manual's rules has on a recording in some modes. It follows
// from the source of the recorded program.
type rule struct {
	id                      string // S1 to S31; `sum`: from the metric's definition; `problem`: the recording lacks something
	recordings, modes, what string
	holds                   func(*testing.T, *model)
}

// The bodies of omp1.c's regions, by the compilers' names.
const (
	gccRow     = "loop_even -- OMP parallel region from line 7 [loop_even._omp_fn.0]"
	clangRow   = "loop_even -- OMP parallel region from line 7 [.omp_outlined.]"
	bothOMP    = "omp_gcc omp_clang"
	everyMode  = "user expert machine"
	exceptUser = "expert machine"
)

var rules = []rule{
	{"S11", bothOMP, "user", "bodies are hidden", bodies()},
	{"S11", "omp_gcc", exceptUser, "bodies say where they come from", bodies(
		"crit 17 crit._omp_fn.0", "imbalance 29 imbalance._omp_fn.0", "loop_even 7 loop_even._omp_fn.0", "reduce 12 reduce._omp_fn.0")},
	{"S11", "omp_clang", exceptUser, "bodies say where they come from", bodies(
		"crit 17 .omp_outlined..4", "imbalance 29 .omp_outlined..6", "loop_even 7 .omp_outlined.", "reduce 12 .omp_outlined..2")},
	{"S11", bothOMP, "user", "the region's function calls row", callers("row", "loop_even")},
	{"S11", "omp_gcc", exceptUser, "the body calls row", callers("row", gccRow)},
	{"S11", "omp_clang", exceptUser, "the body calls row", callers("row", clangRow)},
	{"S11", bothOMP, "user", "parallel time is inclusive time of the function that holds the region", sums("loop_even", "loop_even", "row")},
	{"S11", bothOMP, "user", "a region and the call that enters it are one frame", callers("reduce", "main", totalFunction)},
	{"S11", bothOMP, "user", "shares of time", shares(24, "row", 16, "crit", 18, "imbalance")},
	{"S11", "omp_gcc", exceptUser, "the bodies' shares of time", shares(24, "row", 16, "crit._omp_fn.0", 18, "imbalance._omp_fn.0")},
	{"S11", "omp_clang", exceptUser, "the bodies' shares of time", shares(24, "row", 16, ".omp_outlined..4", 18, ".omp_outlined..6")},
	{"S11", bothOMP, everyMode, "the sections' lines", lineShares(15, 32, 3, 34)},
	{"S11", bothOMP, "user", "a static schedule gives each thread half of the loop: 12 units", threadsIn("row", 12, 12)},
	{"S11", "omp_gcc", everyMode, "the critical section's and the serial line", lineShares(8, 21, 8, 24)},

	{"S17", bothOMP, exceptUser, "no states", states()},
	{"S17", "omp_clang", "user", "states", states("<OMP-critical_section_wait>", "<OMP-explicit_barrier>", "<OMP-idle>", "<OMP-implicit_barrier>", "<OMP-overhead>")},
	{"S17", "omp_gcc", "user", "states", states("<OMP-critical_section_wait>", "<OMP-explicit_barrier>", "<OMP-idle>", "<OMP-implicit_barrier>")},
	{"S17", bothOMP, "user", "the runtime's frames are gone", noObjects("libomp.so.5", "libgomp.so.1.0.0", "libgp-collector.so")},
	{"S17", bothOMP, "user", "who waits for the critical section", callers("<OMP-critical_section_wait>", "crit")},
	// Its libgomp is stripped and enters barriers by tail calls: the program's call tells which
	// barrier.
	{"S17", "omp_gcc", "user", "who waits at the barrier", callers("<OMP-explicit_barrier>", "crit")},
	{"S17", "omp_clang", "user", "at the barrier one thread waits while the other works", waits("<OMP-explicit_barrier>", 24)},
	{"S17", "omp_clang", "user", "who waits for the region's end", callers("<OMP-implicit_barrier>", "main")},
	{"S17", "omp_gcc", "user", "who waits for the region's end", callers("<OMP-implicit_barrier>", "main", "reduce")},
	{"S17", bothOMP, "user", "threads that wait for work are in no function", callers("<OMP-idle>", totalFunction)},
}

func TestRules(t *testing.T) { testRules(t, rules) }

func testRules(t *testing.T, rules []rule) {
	for _, r := range rules {
		for _, recording := range strings.Fields(r.recordings) {
			for _, mode := range strings.Fields(r.modes) {
				t.Run(fmt.Sprint(r.id, "/", recording, "/", mode, "/", r.what), func(t *testing.T) {
					r.holds(t, loadMode(t, shared.DB, experiment(recording), mode))
				})
			}
		}
	}
}

// listed returns the functions of the function list.
func (m *model) listed() (fs []*function) {
	for id, f := range m.functions {
		if _, ok := m.values["totalcpu"][id]; ok {
			fs = append(fs, f)
		}
	}
	return fs
}

// bodies checks which bodies are in the list: function, line and linkage name.
func bodies(want ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var got []string
		for _, f := range m.listed() {
			if f.kind == "body" {
				name, from, _ := strings.Cut(f.name, " -- OMP parallel region from line ")
				from = strings.NewReplacer("[", "", "]", "").Replace(from)
				got = append(got, name+" "+from)
			} else if strings.Contains(f.name, "omp_") {
				t.Errorf("%s is shown", f.name)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("bodies %q, want %q", got, want)
		}
	}
}

// noObjects checks that no function of the load objects is in the list.
func noObjects(names ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		for _, f := range m.listed() {
			if slices.Contains(names, objectName(f.object)) {
				t.Errorf("%s of %s is shown", f.name, f.object)
			}
		}
	}
}

// states checks which OpenMP states are in the list.
func states(want ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var got []string
		for _, f := range m.listed() {
			if strings.HasPrefix(f.name, "<OMP-") {
				got = append(got, f.name)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("states %q, want %q", got, want)
		}
	}
}

// lineTime returns the exclusive time of a line of the program, in any function.
func (m *model) lineTime(n int) (sum float64) {
	for l, v := range m.lines["totalcpu"] {
		if l.line == n && l.file == "omp1.c" {
			sum += float64(v.exclusive)
		}
	}
	return sum
}

// lineShares checks the exclusive times of lines against units of work; units alternates lines and
// units.
func lineShares(units ...int) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var parts []part
		for i := 0; i < len(units); i += 2 {
			parts = append(parts, part{fmt.Sprint("line ", units[i+1]), m.lineTime(units[i+1]), float64(units[i])})
		}
		m.proportion(t, parts)
	}
}

// waits checks that a state takes as long as the line that it waits for.
func waits(state string, line int) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		m.proportion(t, []part{{state, float64(m.sum(t, state, "totalcpu").exclusive), 1}, {"what it waits for", m.lineTime(line), 1}})
	}
}

// Functions refer to the one that they were made from, which has a row even if it is on no stack
// (S9, S11, S12).
func TestRelatedFunctions(t *testing.T) {
	want := map[string]string{
		"outline process.cold": "process", "cxx _Z7catcherv.cold": "_Z7catcherv", "cxx _Z11throw_stormi.cold": "_Z11throw_stormi",
		"clones poly.constprop.0": "", "clones scaled.isra.0": "", "clones partial.part.0": "", // inlined where not cloned
		"omp_gcc loop_even._omp_fn.0": "loop_even", "omp_gcc reduce._omp_fn.0": "reduce", "omp_gcc crit._omp_fn.0": "crit",
		"omp_gcc imbalance._omp_fn.0": "imbalance", "omp_clang .omp_outlined.": "loop_even", "omp_clang .omp_outlined..2": "reduce",
		"omp_clang .omp_outlined..4": "crit", "omp_clang .omp_outlined..6": "imbalance",
	}
	query(t, shared.DB, func(r row) error {
		var experiment, linkage, kind, main string
		var related, found bool
		if err := r.Scan(&experiment, &linkage, &kind, &related, &found, &main); err != nil {
			return err
		}
		if related != found {
			t.Errorf("%s: the function that %s was made from has no row", experiment, linkage)
		}
		key := strings.TrimSuffix(experiment, ".er") + " " + linkage
		if name, ok := want[key]; ok && name != main {
			t.Errorf("%s was made from %q, want %q", key, main, name)
		}
		delete(want, key)
		return nil
	}, `SELECT experiment, f.linkage_name, f.kind, coalesce(f.clone_of, f.outline_of, f.body_of) IS NOT NULL, main.function_id IS NOT NULL, coalesce(main.linkage_name, '')
		FROM functions_wide f JOIN experiments USING (experiment_id)
		LEFT JOIN functions_wide main ON main.experiment_id = f.experiment_id AND main.function_id = coalesce(f.clone_of, f.outline_of, f.body_of)
		WHERE f.kind IN ('clone', 'outline', 'body') OR coalesce(f.clone_of, f.outline_of, f.body_of) IS NOT NULL`)
	for key := range want {
		t.Errorf("no clone, outline function or body %s", key)
	}
}
