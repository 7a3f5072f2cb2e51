package symbols

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/internal/corpus"
	"stackmill/pipeline"
)

// writtenC has the pages that the parallel regions of each function of first.c and second.c touch,
// and main's part of a function that was only inlined there.
var writtenC = map[string]int64{
	"region first.c": 20, "loop first.c": 22, "task first.c": 24, "nest first.c": 54, "sections first.c": 62, "inner first.c": 68,
	"middle first.c": 36, "around first.c": 38, "both first.c": 40, "small first.c": 42, "conditional first.c": 48, "reduce first.c": 50,
	"taskloop first.c": 52, "header shared.h": 160, "region second.c": 220, "task second.c": 224, "kept first.c": 23, "main first.c": 22,
}

// writtenCxx is the same for classes.cpp and others.cpp.
var writtenCxx = map[string]int64{
	"(anonymous namespace)::hidden() classes.cpp": 60, "(anonymous namespace)::hidden() others.cpp": 260,
	"(anonymous namespace)::Local::go() classes.cpp": 62, "(anonymous namespace)::Local::go() const classes.cpp": 64,
	"a::step(int) classes.cpp": 66, "b::step(int) classes.cpp": 68, "b::step(long) classes.cpp": 70,
	"lambdas() classes.cpp": 88, "Shared::member() shared.hpp": 359,
}

// In user mode, a parallel region that was inlined into several functions belongs to the function
// in which it was written, even if that has no code of its own (S11).
func TestRegionsInlinedIntoSeveral(t *testing.T) {
	dir := filepath.Join(folder, "regions")
	if err := corpus.Regions(dir); err != nil {
		t.Fatal(err)
	}
	db, err := ingest(filepath.Join(dir, "store"), pipeline.Options{SymFS: filepath.Join(dir, "symfs")}, filepath.Join(dir, "perf"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	gccCxx := with(writtenCxx, func(m map[string]int64) {
		m["of<char>(char) classes.cpp"], m["of<long int>(long) classes.cpp"] = 122, 136
		m["lambdas()::{lambda at classes.cpp:37:16}::operator()(int) const classes.cpp"] = 84
		m["lambdas()::{lambda at classes.cpp:40:17}::operator()(int) const classes.cpp"] = 86
	})
	clangCxx := with(writtenCxx, func(m map[string]int64) {
		m["void of<char>(char) classes.cpp"], m["void of<long>(long) classes.cpp"] = 122, 136
		m["lambdas()::{lambda(int)#1}::operator()(int) const classes.cpp"] = 84
		m["lambdas()::{lambda(int)#2}::operator()(int) const classes.cpp"] = 86
	})
	unoptimized := func(m map[string]int64) { // the function also has its own code, in a unit
		delete(m, "Shared::member() shared.hpp")
		m["Shared::member() others.cpp"] = 359
	}
	fortran := map[string]int64{"work::region procedures.f90": 102, "work::loop procedures.f90": 104, "work::two::inside procedures.f90": 109}
	for program, want := range map[string]map[string]int64{
		"c_gcc_O0": writtenC, "c_gcc_O2": writtenC, "c_gcc_O3": writtenC, "c_gcc_lto": writtenC,
		"c_clang_O0": writtenC, "c_clang_O2": writtenC, "c_clang_O3": writtenC, "c_clang_lto": writtenC,
		"cxx_gcc_O0": with(gccCxx, unoptimized), "cxx_gcc_O2": gccCxx, "cxx_gcc_split": gccCxx,
		"cxx_clang_O0": with(clangCxx, unoptimized), "cxx_clang_O2": clangCxx, "cxx_clang_lto": clangCxx,
		"fortran_O0": fortran, "fortran_O2": fortran,
		"c_gcc_plain":   unitless(writtenC),
		"cxx_gcc_plain": {"(anonymous namespace)::hidden()": 320, "Shared::member()": 359, "a::step(int)": 66, "b::step(int)": 68, "b::step(long)": 70, "lambdas()": 88},
	} {
		got, twice := map[string]int64{}, 0
		query(t, db, func(r *sql.Rows) error {
			var function, module, kind string
			var n int64
			err := r.Scan(&function, &module, &kind, &n)
			if kind == "body" {
				t.Errorf("%s: user mode shows %s", program, function)
			}
			key := strings.TrimSuffix(function+" "+filepath.Base(module), " (unknown)")
			if _, known := got[key]; known {
				twice++
			}
			got[key] += n
			return err
		}, `SELECT function, module, kind, exclusive FROM function_metrics
			WHERE experiment = ? AND mode = 'user' AND metric = 'page-faults:u' AND load_object = ? AND exclusive >= 3`, program+".data", program)
		for function, n := range want {
			if own := got[function] - n; own < 0 || own > 2 { // page faults of the function's own stack and blocks
				t.Errorf("%s: %s has %d, want %d", program, function, got[function], n)
			}
		}
		// Without debug information, static functions with equal names are distinguished by the
		// functions into which they were inlined.
		if several := map[string]int{"c_gcc_plain": 3, "cxx_gcc_plain": 1}[program]; twice != several {
			t.Errorf("%s: %d names are those of several functions, want %d", program, twice, several)
		}
	}
}

// unitless returns the sums over functions with equal names in several files.
func unitless(rows map[string]int64) map[string]int64 {
	sums := map[string]int64{}
	for key, n := range rows {
		function, _, _ := strings.Cut(key, " ")
		sums[function] += n
	}
	return sums
}
