package export

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"stackmill/cmd/acceptance/suite"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/export"
)

// named makes a store of a recording whose threads change their names, and returns `perf script`'s
// values in ns, by thread (NAME-PID/TID) and by name.
func named(t *testing.T) (db *queries.DB, byThread, byName map[string]int64) {
	t.Helper()
	const dir = "../../../stages/decode/perfdata/testdata/names"
	packed, err := os.Open(filepath.Join(dir, "names.data.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	path := filepath.Join(temp, "names.data")
	write(t, path, data)
	db, err = suite.Open(pipeline.Options{Store: filepath.Join(temp, "store")}, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	lines, err := os.ReadFile(filepath.Join(dir, "perf-script.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	byThread, byName = map[string]int64{}, map[string]int64{}
	for line := range strings.Lines(string(lines)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t") // count, process, thread, name
		n, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		const period = 2_500_000 // perf record -F 400 -e cpu-clock:u
		byThread[f[3]+"-"+f[1]+"/"+f[2]] += n * period
		byName[f[3]] += n * period
	}
	return db, byThread, byName
}

// keys returns values with renamed keys.
func keys(values map[string]int64, name func(string) string) map[string]int64 {
	renamed := map[string]int64{}
	for k, v := range values {
		renamed[name(k)] += v
	}
	return renamed
}

// Each format has the names of threads where its readers expect them, with perf's values.
func TestThreads(t *testing.T) {
	db, byThread, byName := named(t)
	for by, want := range map[string]map[string]int64{"thread": byThread, "thread-name": byName} {
		t.Run(by, func(t *testing.T) {
			checkFoldedThreads(t, string(exported(t, db, export.Request{As: "folded", By: by})), string(exported(t, db, export.Request{As: "folded"})), want)
			t.Run("callgrind", func(t *testing.T) {
				checkCallgrindThreads(t, file(t, db, export.Request{As: "callgrind", By: by, Metric: "cpu-clock:u"}), want)
			})
			t.Run("speedscope", func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "a.speedscope.json")
				write(t, path, exported(t, db, export.Request{As: "speedscope", By: by}))
				got, last := map[string]int64{}, int64(0)
				for _, p := range speedscope(t, path) {
					got[strings.TrimSuffix(p.Name, ": cpu-clock:u")] += p.Total
					if last > 0 && p.Total > last {
						t.Errorf("%s with %d is after a profile with %d", p.Name, p.Total, last)
					}
					last = p.Total
				}
				if diff := gocmp.Diff(got, want); diff != "" {
					t.Errorf("-speedscope +perf\n%s", diff)
				}
			})
		})
	}
	t.Run("pprof", func(t *testing.T) { checkPprofThreads(t, db, byThread, byName) })
}

// checkFoldedThreads checks the values of the first frames. Without these, the stacks must be the
// same as without threads.
func checkFoldedThreads(t *testing.T, text, plain string, want map[string]int64) {
	t.Helper()
	threads, stacks := map[string]int64{}, map[string]int64{}
	sum := func(text string, do func(stack string, v int64)) {
		for line := range strings.Lines(text) {
			stack, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "; ") // a stray semicolon
			if value != "" {
				t.Errorf("%q", line)
			}
			at := strings.LastIndexByte(stack, ' ')
			v, err := strconv.ParseInt(stack[at+1:], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			do(stack[:at], v)
		}
	}
	sum(text, func(stack string, v int64) {
		thread, rest, _ := strings.Cut(stack, ";")
		threads[thread] += v
		stacks[rest] += v
	})
	sum(plain, func(stack string, v int64) { stacks[stack] -= v })
	want = keys(want, func(name string) string { return strings.ReplaceAll(name, ";", ":") })
	if diff := gocmp.Diff(threads, want); diff != "" {
		t.Errorf("-folded +perf\n%s", diff)
	}
	for stack, v := range stacks {
		if v != 0 {
			t.Errorf("%s: %d differs from the stacks without threads", stack, v)
		}
	}
}

func checkCallgrindThreads(t *testing.T, path string, want map[string]int64) {
	t.Helper()
	if _, err := exec.LookPath("callgrind_annotate"); err != nil {
		t.Skip("no callgrind_annotate (a part of valgrind)")
	}
	command := exec.CommandContext(t.Context(), "callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no", path)
	out, err := command.CombinedOutput()
	if err != nil || strings.Contains(string(out), "WARNING") {
		t.Fatalf("%v\n%s", err, out)
	}
	got := map[string]int64{}
	for _, m := range regexp.MustCompile(`(?m)^ *([\d,]+) \([ \d.]+%\)  <threads>:(.*?)(?: \[\?*\])?$`).FindAllStringSubmatch(string(out), -1) {
		v, err := strconv.ParseInt(strings.ReplaceAll(m[1], ",", ""), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		got[m[2]] = v
	}
	if diff := gocmp.Diff(got, want); diff != "" {
		t.Errorf("-callgrind +perf\n%s\n%s", diff, out)
	}
}

// checkPprofThreads checks the labels, and that pprof can turn them into root frames.
func checkPprofThreads(t *testing.T, db *queries.DB, byThread, byName map[string]int64) {
	t.Helper()
	path := file(t, db, export.Request{As: "pprof"})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, s := range p.Sample {
		got[s.Label["thread_name"][0]+"-"+s.Label["pid"][0]+"/"+s.Label["thread"][0]] += s.Value[0]
	}
	if diff := gocmp.Diff(got, byThread); diff != "" {
		t.Errorf("-labels +perf\n%s", diff)
	}
	command := exec.CommandContext(t.Context(), "go", "tool", "pprof", "-top", "-noinlines", "-symbolize=none", "-nodefraction=0", "-unit=nanoseconds", "-tagroot=thread_name", path)
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.Bytes())
	}
	roots := map[string]int64{}
	for line := range strings.Lines(string(out)) {
		if m := topLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			if _, known := byName[m[3]]; known {
				roots[m[3]], _ = strconv.ParseInt(m[2], 10, 64)
			}
		}
	}
	if diff := gocmp.Diff(roots, byName); diff != "" {
		t.Errorf("-pprof +perf\n%s\n%s", diff, out)
	}
}

// Unnamed threads of several experiments have the values of their report in all formats that
// distinguish them.
func TestThreadsWithoutNames(t *testing.T) {
	db := only(t, "threads.er", "recur.er")
	want := map[string]int64{}
	rows, err := db.QueryContext(t.Context(), `SELECT experiment || ' thread-' || p.pid || '/' || thread_id, sum(value)::BIGINT FROM thread_metrics t JOIN processes p USING (experiment_id, process)
WHERE metric = 'totalcpu' AND mode = 'user' GROUP BY ALL HAVING sum(value) <> 0`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all int64
	for rows.Next() {
		var name string
		var v int64
		if err := rows.Scan(&name, &v); err != nil {
			t.Fatal(err)
		}
		want[name] = v
		all += v
	}
	if err := rows.Err(); err != nil || len(want) < 5 {
		t.Fatalf("%v, %v", err, want)
	}
	for by, want := range map[string]map[string]int64{"thread": want, "thread-name": {"<no name>": all}} {
		r := export.Request{As: "folded", By: by, Metric: "totalcpu"}
		plain := r
		plain.By = ""
		checkFoldedThreads(t, string(exported(t, db, r)), string(exported(t, db, plain)), want)
	}
}
