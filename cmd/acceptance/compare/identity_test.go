package compare

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/cmd/acceptance/suite"
	"stackmill/pipeline"
	"stackmill/queries/compare"
)

// build is a build of a program. Each folder of the program has a file util.c with a static
// function helper, which allocates some bytes.
type build struct {
	name    string
	allocs  map[string]int // by folder: bytes that its helper allocates
	flags   string         // flags of the compiler
	from    string         // in which folder the compiler runs: the build's, each source's, or one above (absolute names)
	library bool           // each folder is a library libutil.so, in which helper is global
}

// make builds the program and records its allocations.
func (b build) make(t *testing.T, dir string) (recording string) {
	t.Helper()
	dir = filepath.Join(dir, b.name, "tree")
	storage, main, calls := "static", "void *volatile keep;\n", ""
	if b.library {
		storage, main = "", ""
	}
	files := []string{"main.c"}
	for _, folder := range sortedKeys(b.allocs) {
		files = append(files, filepath.Join(folder, "util.c"))
		body := fmt.Sprintf("#include <stdlib.h>\nextern void *volatile keep;\n%s __attribute__((noinline)) void helper(int n) { void *p = malloc(n); keep = p; free(p); }\nvoid run_%s(void) { helper(%d); }\n",
			storage, folder, b.allocs[folder])
		if b.library {
			body = strings.Replace(body, "extern void *volatile keep", "static void *volatile keep", 1)
		}
		put(t, filepath.Join(dir, folder, "util.c"), body)
		main += "void run_" + folder + "(void);\n"
		calls += "run_" + folder + "();\n"
	}
	put(t, filepath.Join(dir, "main.c"), main+"int main(void) {\n"+calls+"return 0;\n}\n")
	program := filepath.Join(dir, "program")
	link := []string{"-o", program}
	for _, file := range files {
		object := filepath.Join(dir, strings.ReplaceAll(file, "/", "_")+".o")
		at, source := dir, file
		switch b.from {
		case "source":
			at, source = filepath.Join(dir, filepath.Dir(file)), filepath.Base(file)
		case "above":
			at, source = filepath.Dir(filepath.Dir(dir)), filepath.Join(dir, file)
		}
		args := append(strings.Fields(b.flags), "-O1", "-fPIC", "-c", "-o", object, source)
		do(t, at, "gcc", args...)
		if b.library && file != "main.c" {
			library := filepath.Join(dir, filepath.Dir(file), "libutil.so")
			do(t, dir, "gcc", "-shared", "-Wl,-Bsymbolic", "-o", library, object)
			object = library
		}
		link = append(link, object)
	}
	do(t, dir, "gcc", link...)
	recording = filepath.Join(filepath.Dir(dir), b.name+".er")
	do(t, dir, "gprofng", "collect", "app", "-p", "off", "-H", "on", "-o", recording, program)
	return recording
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func sortedKeys(m map[string]int) (list []string) {
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// TestSameBaseName compares builds of programs that have two functions with equal names in files
// with equal names: they never become one row, and the same property distinguishes them in every
// build.
func TestSameBaseName(t *testing.T) {
	need(t, "gcc", "gprofng")
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} { // otherwise, sources are not read
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	first, second := map[string]int{"d1": 1000, "d2": 200}, map[string]int{"d1": 200, "d2": 1000}
	builds := []build{
		{name: "one", allocs: first, flags: "-g"},
		{name: "two", allocs: second, flags: "-g"},
		{name: "alone", allocs: map[string]int{"d2": 300}, flags: "-g"},
		{name: "source", allocs: second, flags: "-g", from: "source"},
		{name: "above", allocs: second, flags: "-g", from: "above"},
		{name: "dwarf4", allocs: second, flags: "-gdwarf-4"},
		{name: "plain", allocs: first, flags: "-g0"},
		{name: "plain2", allocs: second, flags: "-g0"},
		{name: "libs", allocs: first, flags: "-g", library: true},
		{name: "libs2", allocs: second, flags: "-g", library: true},
		{name: "lib", allocs: map[string]int{"d2": 300}, flags: "-g", library: true},
	}
	var recordings []string
	for _, b := range builds {
		recordings = append(recordings, b.make(t, dir))
	}
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(dir, "store"), Cache: filepath.Join(dir, "cache")}, recordings...)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	suite.CheckInvariants(t, db, len(builds))
	for _, test := range []struct{ base, test, want string }{
		{"one", "two", "d1/util.c key 1000 200 faster, d2/util.c key 200 1000 slower"},
		{"one", "source", "d1/util.c key 1000 200 faster, d2/util.c key 200 1000 slower"},
		{"one", "above", "d1/util.c key 1000 200 faster, d2/util.c key 200 1000 slower"},
		{"one", "dwarf4", "d1/util.c key 1000 200 faster, d2/util.c key 200 1000 slower"},
		{"one", "alone", "d1/util.c  1000 0 vanished, d2/util.c key 200 300 slower"},
		{"alone", "one", "d1/util.c  0 1000 appeared, d2/util.c key 300 200 faster"},
		{"plain", "plain2", "(unknown) one of 2 candidates 0 1000 ambiguous, (unknown) one of 2 candidates 0 200 ambiguous, (unknown) one of 2 candidates 1000 0 ambiguous, (unknown) one of 2 candidates 200 0 ambiguous"},
		{"plain", "plain", "(unknown) key 1000 1000 same, (unknown) key 200 200 same"},
		{"libs", "libs2", "d1/util.c libutil.so key 1000 200 faster, d2/util.c libutil.so key 200 1000 slower"},
		{"libs", "lib", "d1/util.c libutil.so  1000 0 vanished, d2/util.c libutil.so path, name 200 300 slower"},
	} {
		r := compare.Defaults()
		r.Base, r.Test, r.Metric, r.Inclusive, r.MinShare = []string{test.base}, []string{test.test}, "heapallocbytes", true, 0
		result, err := compare.Run(t.Context(), db, r)
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for _, row := range result.Rows {
			if row.Names[0] != "helper" {
				continue
			}
			object := row.Names[1] + " "
			if object == "program " {
				object = ""
			}
			elements := strings.Split(row.Names[2], "/")
			rows = append(rows, fmt.Sprintf("%s %s%s %v %v %s", strings.Join(elements[max(0, len(elements)-2):], "/"), object, row.Matched, row.Base, row.Test, row.Verdict))
		}
		slices.Sort(rows)
		if diff := cmp.Diff(test.want, strings.Join(rows, ", ")); diff != "" {
			t.Errorf("%s and %s: (-want +got)\n%s", test.base, test.test, diff)
		}
	}
}
