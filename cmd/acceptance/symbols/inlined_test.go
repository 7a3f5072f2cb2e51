package symbols

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
)

// inlinedC has the pages that each function of first.c and second.c touches, by name, file and
// line.
var inlinedC = map[string]int64{
	"helper first.c:3": 5, "step first.c:4": 6, "outer first.c:5": 3, "both first.c:3": 17, "header shared.h:2": 32,
	"helper second.c:2": 20, "step second.c:3": 21, "second second.c:4": 4,
}

// inlinedCxx is the same for first.cpp and second.cpp. The debug information of clang has
// linkage names for all functions.
var inlinedCxx = map[string]int64{
	"a::step(int) first.cpp:3": 11, "b::step(int) first.cpp:4": 12,
	"over(int) first.cpp:5": 13, "over(long) first.cpp:6": 14, "over(char const*) first.cpp:7": 15, "over(Visible const&, int) first.cpp:8": 16,
	"A::In::go(int) first.cpp:9": 17, "B::In::go(int) first.cpp:10": 18,
	"(anonymous namespace)::hidden(int) shared.hpp:3": 122, "(anonymous namespace)::Hidden::go(int) shared.hpp:5": 124, "(anonymous namespace)::Hidden::go(int) const shared.hpp:6": 126,
	"void of<int>(int) shared.hpp:9": 128, "void of<long>(long) shared.hpp:9": 23, "Visible::go(int) shared.hpp:16": 133,
	"calling(int)::{lambda(int)#1}::operator()(int) const shared.hpp:12": 131, "void both<int>(int) first.cpp:18": 174,
	"main::{lambda at first.cpp:21:2}::operator()(int) const first.cpp:21": 26, "main::{lambda at first.cpp:21:2}::operator()(int) const #2 first.cpp:21": 27,
	"main::{lambda at first.cpp:23:16}::operator()(int) const first.cpp:23":                                                     28,
	"main::{lambda at first.cpp:23:16}::operator()(int) const::{lambda at first.cpp:23:69}::operator()(int) const first.cpp:23": 29,
	"main::Local::go(int) first.cpp:25": 30, "main::Local::go(int) first.cpp:28": 31,
	"a::step(int) second.cpp:3": 101, "over(int) second.cpp:2": 102, "second()::Local::go(int) second.cpp:11": 110, "second() second.cpp:4": 4,
}

// with returns a changed copy of rows.
func with(rows map[string]int64, change func(map[string]int64)) map[string]int64 {
	rows = maps.Clone(rows)
	change(rows)
	return rows
}

// Entries in the debug information, however it is stored, distinguish functions with equal names,
// and equal entries of several units are one function (S10).
func TestInlinedIdentity(t *testing.T) {
	dir := filepath.Join(folder, "inlined")
	if err := corpus.Inlined(dir); err != nil {
		t.Fatal(err)
	}
	db := openInlined(t, dir)
	clangC := inlinedC
	gccC := with(inlinedC, func(m map[string]int64) { m["outer::inner first.c:8"] = 7 })
	clangCxx := with(inlinedCxx, func(m map[string]int64) {
		for i, name := range []string{
			"{lambda at first.cpp:21:2}::operator()(int) const", "{lambda at first.cpp:21:2}::operator()(int) const #2", "{lambda at first.cpp:23:16}::operator()(int) const",
			"{lambda at first.cpp:23:16}::operator()(int) const::{lambda at first.cpp:23:69}::operator()(int) const",
		} {
			line := []int{21, 21, 23, 23}[i]
			n := m[fmt.Sprintf("main::%s first.cpp:%d", name, line)]
			delete(m, fmt.Sprintf("main::%s first.cpp:%d", name, line))
			m[fmt.Sprintf("main::%s first.cpp:%d", []string{"$_0::operator()(int) const", "$_1::operator()(int) const", "$_2::operator()(int) const", "$_2::operator()(int) const::{lambda(int)#1}::operator()(int) const"}[i], line)] = n
		}
	})
	for name, want := range map[string]map[string]int64{
		"c_gcc_4": gccC, "c_gcc_5": gccC, "c_clang_4": clangC, "c_clang_5": clangC,
		"cxx_gcc_5": inlinedCxx, "cxx_split_5": inlinedCxx, "cxx_types": inlinedCxx, "cxx_lto": inlinedCxx, "cxx_dwz_5": inlinedCxx, "cxx_sup": inlinedCxx,
		"cxx_gcc_4": inlinedCxx, "cxx_split_4": inlinedCxx, "cxx_dwz_4": inlinedCxx,
		"cxx_clang_4": clangCxx, "cxx_clang_5": clangCxx, "cxx_clang_lto": clangCxx,
	} {
		if d := cmp.Diff(want, touched(t, db, name)); d != "" {
			t.Errorf("%s: (-want +got)\n%s", name, d)
		}
	}
}

// Inlined functions are recognized in other builds: by name, and by file if several have the name.
func TestInlinedScopes(t *testing.T) {
	dir := filepath.Join(folder, "inlined scopes")
	if err := corpus.Inlined(dir); err != nil {
		t.Fatal(err)
	}
	db, err := ingest(filepath.Join(dir, "store"), pipeline.Options{SymFS: filepath.Join(dir, "symfs")},
		filepath.Join(dir, "perf", "cxx_gcc_5.data"), filepath.Join(dir, "perf", "cxx_lto.data"), filepath.Join(dir, "perf", "c_gcc_5.data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	rows := map[string]string{}
	query(t, db, func(r *sql.Rows) error {
		var experiment, name, scope, module string
		err := r.Scan(&experiment, &name, &scope, &module)
		rows[fmt.Sprintf("%s %s %s", experiment, name, module)] = scope
		return err
	}, `SELECT e.experiment, f.name, f.name_scope, m.short_path FROM functions f JOIN modules m USING (experiment_id, module_id) JOIN experiments e USING (experiment_id)
		WHERE f.kind = 'inlined' AND f.name IN ('helper', 'header', 'over(int)', 'Visible::go(int)', '(anonymous namespace)::Hidden::go(int)')`)
	want := map[string]string{
		"c_gcc_5.data helper second.c": "module", "c_gcc_5.data header shared.h": "module",
	}
	for _, e := range []string{"cxx_gcc_5.data", "cxx_lto.data"} {
		want[e+" over(int) first.cpp"], want[e+" over(int) second.cpp"] = "module", "module"
		want[e+" Visible::go(int) shared.hpp"], want[e+" (anonymous namespace)::Hidden::go(int) shared.hpp"] = "object", "module"
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func openInlined(t *testing.T, dir string) *queries.DB {
	t.Helper()
	db, err := ingest(filepath.Join(dir, "store"), pipeline.Options{SymFS: filepath.Join(dir, "symfs")}, filepath.Join(dir, "perf"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// touched returns the page faults in a program's functions, inlined ones separately, by name, file
// and line, without functions that have fewer than three.
func touched(t *testing.T, db *queries.DB, program string) map[string]int64 {
	t.Helper()
	list := map[string]int64{}
	query(t, db, func(r *sql.Rows) error {
		var name, module string
		var line int
		var n int64
		err := r.Scan(&name, &module, &line, &n)
		key := fmt.Sprintf("%s %s:%d", name, filepath.Base(module), line)
		if _, twice := list[key]; twice {
			t.Errorf("%s: two functions are %s", program, key)
		}
		list[key] = n
		return err
	}, `SELECT m.function, m.module, f.start_line, m.exclusive FROM inline_function_metrics m JOIN functions f USING (experiment_id, function_id)
		WHERE experiment = ? AND mode = 'user' AND metric = 'page-faults:u' AND m.load_object = ? AND m.exclusive >= 3`, program+".data", program)
	return list
}

// Minimal debug information has no scopes, parameters and linkage names. Its functions are
// distinguished nevertheless.
func TestInlinedNamesAlone(t *testing.T) {
	dir := filepath.Join(folder, "inlined lines")
	if err := corpus.Inlined(dir); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"cxx_g1", "cxx_clang_lines"} {
		if _, err := os.Stat(filepath.Join(dir, "perf", file+".data")); err != nil {
			t.Fatal(err)
		}
	}
	db := openInlined(t, dir)
	for _, program := range []string{"cxx_g1", "cxx_clang_lines"} {
		values := map[int64]bool{}
		for _, n := range touched(t, db, program) {
			values[n] = true
		}
		for own := int64(11); own <= 31; own++ {
			shared := own >= 19 && own <= 25 && own != 23 // also touched by second.cpp
			if !values[own] && !(shared && program == "cxx_g1") {
				t.Errorf("%s: no function has %d alone: %v", program, own, values)
			}
		}
		for name := range touched(t, db, program) {
			if strings.Contains(name, "()") && !strings.Contains(name, "operator()") && !strings.HasPrefix(name, "second()") {
				t.Errorf("%s: the parameters of %s are not known", program, name)
			}
		}
	}
}

// Code inlined deeper than the maximum chain is not attributed to the chain's last level.
func TestInlinedDeeper(t *testing.T) {
	dir := filepath.Join(folder, "inlined deep")
	if err := corpus.Inlined(dir); err != nil {
		t.Fatal(err)
	}
	db := openInlined(t, dir)
	levels, deeper := 0, int64(0)
	query(t, db, func(r *sql.Rows) error {
		var name string
		var n int64
		err := r.Scan(&name, &n)
		switch {
		case name == "<Truncated-inline-chain>":
			deeper = n
		case n != 1:
			t.Errorf("%s has %d", name, n)
		default:
			levels++
		}
		return err
	}, `SELECT function, exclusive FROM inline_function_metrics WHERE experiment = 'deep.data' AND mode = 'user' AND metric = 'page-faults:u'
		AND (function LIKE '%down<%' OR kind = 'artificial' AND function <> '<Total>')`)
	if levels != 256 || deeper != 44 {
		t.Errorf("%d levels, %d deeper", levels, deeper)
	}
}
