// Package compare compares real runs: functions are recognized in another build, planted changes
// are found, and no others.
package compare

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/compare"
)

// sources writes a program of some 200 functions that each allocate a different number of bytes.
// The second build has shifted lines, static functions that gcc clones and specializes, a
// renamed file, lambdas with other numbers, functions with another parameter, and renamed
// functions.
func sources(t *testing.T, dir string, second bool) (files []string) {
	t.Helper()
	shift, noclone, moved, more, param, renamed := "", ", noclone", "moved.c", "", "int", "old"
	if second {
		shift, noclone, moved, more, param, renamed = strings.Repeat("// another line\n", 37), "", "relocated.c", "take([](int n) { void *p = malloc(n); keep = p; free(p); }, 9000);", "long", "fresh"
	}
	size := 0
	next := func() int { size += 16; return size }
	head := shift + "#include <stdlib.h>\nextern void *volatile keep;\n"
	allocate := func(n string) string { return "{ void *p = malloc(" + n + "); keep = p; free(p); }\n" }
	calls := ""
	plain := func(name string, n int) string {
		calls += fmt.Sprintf("void %s(void);\n", name)
		return fmt.Sprintf("__attribute__((noinline)) void %s(void) %s", name, allocate(fmt.Sprint(n)))
	}
	var main strings.Builder
	write := func(name string, body string) {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(head+body), 0o666); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	body := ""
	for i := range 80 {
		body += plain(fmt.Sprintf("plain%d", i), next())
		fmt.Fprintf(&main, "plain%d();\n", i)
	}
	for i := range 6 {
		body += strings.Replace(plain(fmt.Sprintf("%s_name%d", renamed, i), next()), "keep = p;", fmt.Sprintf("keep = p; keep = (char *)p + %d; keep = 0;", i), 1)
		fmt.Fprintf(&main, "%s_name%d();\n", renamed, i)
	}
	write("plain.c", body)
	body = ""
	inner := ""
	for i := range 50 {
		if i < 25 { // static functions are known by their module, too
			body += fmt.Sprintf("static __attribute__((noinline)) void elsewhere%d(void) %s", i, allocate(fmt.Sprint(next())))
			inner += fmt.Sprintf("elsewhere%d();\n", i)
			continue
		}
		body += plain(fmt.Sprintf("elsewhere%d", i), next())
		fmt.Fprintf(&main, "elsewhere%d();\n", i)
	}
	write(moved, body+"void elsewhere(void) {\n"+inner+"}\n")
	calls += "void elsewhere(void);\n"
	main.WriteString("elsewhere();\n")
	body, inner = "", ""
	for i := range 40 {
		body += fmt.Sprintf("static __attribute__((noinline%s)) void clone%d(int n, int times) %s", noclone, i, allocate(fmt.Sprintf("n * times - %d", i)))
		inner += fmt.Sprintf("clone%d(%d, 1);\n", i, next()+i)
	}
	write("clones.c", body+"void clones(void) {\n"+inner+"}\n")
	calls += "void clones(void);\n"
	main.WriteString("clones();\n")

	body = "template <class F> __attribute__((noinline)) void take(F f, int n) { f(n); }\nnamespace {\n"
	inner = more + "\n"
	for i := range 20 {
		body += fmt.Sprintf("__attribute__((noinline)) void hidden%d(%s n) %s", i, param, allocate(fmt.Sprintf("n + %d", next()-1)))
		inner += fmt.Sprintf("hidden%d(1);\n", i)
	}
	inner += fmt.Sprintf("take([](int n) { void *p = malloc(n + 1); keep = p; free(p); }, %d);\n", next()-1)
	write("names.cc", body+"}\nextern \"C\" __attribute__((noinline)) void names(void) {\n"+inner+"}\n")
	calls += "void names(void);\n"
	main.WriteString("names();\n")
	write("main.c", calls+"void *volatile keep;\nint main(void) {\n"+main.String()+"return 0;\n}\n")
	return files
}

// record builds a program and records its allocations.
func record(t *testing.T, dir string, second bool) (recording string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	var objects []string
	for _, file := range sources(t, dir, second) {
		compiler := "gcc"
		if strings.HasSuffix(file, ".cc") {
			compiler = "g++"
		}
		objects = append(objects, file+".o")
		do(t, dir, compiler, "-O2", "-g", "-c", "-o", file+".o", file)
	}
	program := filepath.Join(dir, "program")
	do(t, dir, "g++", append([]string{"-o", program}, objects...)...)
	recording = filepath.Join(dir, filepath.Base(dir)+".er")
	do(t, dir, "gprofng", "collect", "app", "-p", "off", "-H", "on", "-o", recording, program)
	return recording
}

func do(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", c, err, out)
	}
}

func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

// TestMatching finds the functions of a program in another build. Each allocates the same number of
// bytes there: a row with different values is a wrong match.
func TestMatching(t *testing.T) {
	need(t, "gcc", "g++", "gprofng")
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} { // otherwise, sources are not read
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	base, test := record(t, filepath.Join(dir, "base"), false), record(t, filepath.Join(dir, "test"), true)
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(dir, "store"), Cache: filepath.Join(dir, "cache")}, base, test)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := compare.Defaults()
	r.Base, r.Test, r.Metric, r.Inclusive, r.MinShare = []string{"base"}, []string{"test"}, "heapallocbytes", true, 0
	result, err := compare.Run(t.Context(), db, r)
	if err != nil {
		t.Fatal(err)
	}
	if e := result.Environment; len(e) != 1 || e[0].What != "build of program" || e[0].Unfair {
		t.Errorf("the environment differs in %+v", e)
	}
	functions, found, how := 0, 0, map[string]int{}
	for _, row := range result.Rows[1:] {
		if row.Names[1] != "program" || row.Base == 0 && row.Test == 9000 || row.Test == row.Base+9000 { // only one build has it
			continue
		}
		functions++
		if row.Matched == "" || row.Base != row.Test {
			t.Logf("%v: %s, %v and %v", row.Names, row.Matched, row.Base, row.Test)
			continue
		}
		found++
		kind, _, _ := strings.Cut(row.Matched, " (")
		how[kind]++
	}
	t.Logf("%d of %d functions: %v", found, functions, how)
	if functions < 195 || found*100 < functions*99 {
		t.Errorf("%d of %d functions were found in the other build", found, functions)
	}
	for _, kind := range []string{"key", "name", "module", "code, name"} {
		if how[kind] == 0 {
			t.Errorf("no function was matched by %s", kind)
		}
	}
	matchLines(t, db, r)
}

// matchLines finds the lines of the program in the other build's sources, where one file is
// renamed.
func matchLines(t *testing.T, db *queries.DB, r compare.Request) {
	t.Helper()
	r.By = "line"
	result, err := compare.Run(t.Context(), db, r)
	if err != nil {
		t.Fatal(err)
	}
	lines, found := 0, 0
	for _, row := range result.Rows[1:] {
		if d := row.Test - row.Base; d == 9000 { // only one build has it
			continue
		}
		lines++
		if row.Base == row.Test && strings.HasPrefix(row.Matched, "text (line ") {
			found++
		} else {
			t.Logf("%v: %s, %v and %v", row.Names, row.Matched, row.Base, row.Test)
		}
	}
	if lines < 350 || found*100 < lines*99 {
		t.Errorf("%d of %d lines were found in the other build", found, lines)
	}
}
