package export

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"stackmill/queries/export"
)

// callgrind_annotate prints the values of `report functions`, also for recursion.
func TestCallgrindAnnotate(t *testing.T) {
	if _, err := exec.LookPath("callgrind_annotate"); err != nil {
		t.Skip("no callgrind_annotate (a part of valgrind)")
	}
	for _, name := range []string{"recur", "cxx", "threads", "omp_gcc"} {
		db := only(t, name+".er")
		path := file(t, db, export.Request{As: "callgrind", Metric: "totalcpu"})
		want := reported(t, db, "function_metrics", "f.name", "totalcpu", "user")
		all := total(t, db, "totalcpu", "user")
		got := map[string]both{}
		for i, inclusive := range []string{"no", "yes"} {
			values, sum := annotated(t, path, inclusive)
			if sum != all {
				t.Errorf("%s: total %d, want %d", name, sum, all)
			}
			for function, v := range values {
				b := got[function]
				b[i] = v
				got[function] = b
			}
		}
		for _, none := range []string{"<no stack>", "<Total>"} {
			delete(got, none)
			delete(want, none)
		}
		if diff := gocmp.Diff(got, want); diff != "" {
			t.Errorf("%s: -callgrind +report\n%s", name, diff)
		}
	}
}

var annotation = regexp.MustCompile(`^ *([\d,]+) \([ \d.]+%\)  (?:(PROGRAM TOTALS)|[^:]*:(.*?)(?: \[[^\]]*\])?)$`)

// annotated returns the costs that callgrind_annotate prints, by function. It prints a function's
// part in another file as a separate function, with exclusive cost only.
func annotated(t *testing.T, path, inclusive string) (values map[string]int64, total int64) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "callgrind_annotate", "--inclusive="+inclusive, "--threshold=100", "--auto=no", filepath.Base(path))
	command.Dir = filepath.Dir(path)
	out, err := command.CombinedOutput()
	if err != nil || strings.Contains(string(out), "WARNING") {
		t.Fatalf("%v\n%s", err, out)
	}
	values = map[string]int64{}
	for line := range strings.Lines(string(out)) {
		m := annotation.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		n, err := strconv.ParseInt(strings.ReplaceAll(m[1], ",", ""), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case m[2] != "":
			total = n
		case inclusive == "yes":
			values[m[3]] = max(values[m[3]], n)
		default:
			values[m[3]] += n
		}
	}
	return values, total
}
