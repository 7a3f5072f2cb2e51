// Package objects compares recordings of programs with unusual mappings or files with the truth.
package objects

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/stages/decode/gprofng"
)

var folder string // with the recordings and the programs

// recorded is the folder where the programs were when recorded.
const recorded = "tmp/corpus/objects"

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "stackmill-objects-"); err == nil {
		err = corpus.Objects(folder)
	}
	code := 1
	if err == nil {
		code = m.Run()
	}
	if err = errors.Join(err, os.RemoveAll(folder)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// ingest reads recordings with load objects below symfs, and returns the store and the results.
func ingest(t *testing.T, symfs string, recordings ...string) (*queries.DB, []pipeline.Result) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	var paths []string
	for _, name := range recordings {
		paths = append(paths, filepath.Join(folder, name))
	}
	results, err := pipeline.Ingest(t.Context(), pipeline.Options{Store: dir, Jobs: 1, DebugDirs: []string{}, SymFS: symfs}, paths...)
	if err != nil || len(results) != len(recordings) {
		t.Fatal(err, results)
	}
	db, err := queries.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if broken := rows(t, db, "SELECT * FROM conservation"); len(broken) > 0 {
		t.Errorf("broken sums: %q", broken)
	}
	return db, results
}

// root makes a folder with programs at their recorded paths; files alternates names and files.
func root(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	at := filepath.Join(dir, recorded)
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		content, err := os.ReadFile(filepath.Join(folder, files[i+1]))
		if err == nil {
			err = os.WriteFile(filepath.Join(at, files[i]), content, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// rows returns the rows of a query, sorted, values separated by blanks.
func rows(t *testing.T, db *queries.DB, text string, args ...any) []string {
	t.Helper()
	list, err := db.Query(text, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	columns, err := list.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for list.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := list.Scan(values...); err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, v := range values {
			words = append(words, fmt.Sprint(*v.(*any)))
		}
		out = append(out, strings.Join(words, " "))
	}
	slices.Sort(out)
	return out
}

// Code outside of files is `<Unknown>`, and no sample is lost (S15). It has a reason if the
// recording lists its memory: perf lists all memory, gprofng only files.
func TestCodeInNoFile(t *testing.T) {
	const callers = `SELECT DISTINCT other FROM callers_callees
		WHERE function = '<Unknown>' AND relation = 'caller' AND mode = 'user' AND attributed > 0`
	const reasons = `SELECT reason, sum(samples) >= 40 FROM unattributed WHERE mode = 'user' AND metric IN ('totalcpu', 'cpu-clock:u') GROUP BY ALL`
	const others = `SELECT DISTINCT function FROM function_metrics WHERE exclusive > 0 AND mode = 'user' AND function NOT IN ('<Total>', '<Unknown>')`
	all := []string{"in_anonymous", "in_deleted", "in_heap", "in_memfd", "in_shm", "in_stack", "in_zero"}
	for recording, want := range map[string][]string{
		"places.data": {"generated code without information true"},
		"places.er":   {"PC in no load object true", "generated code without information true"},
	} {
		t.Run(recording, func(t *testing.T) {
			db, results := ingest(t, root(t, "places", "places"), recording)
			if results[0].Lost() {
				t.Errorf("status %s: %v", results[0].Status, results[0].Problems)
			}
			if d := cmp.Diff(all, rows(t, db, callers)); d != "" {
				t.Error("callers of generated code", d)
			}
			if d := cmp.Diff(want, rows(t, db, reasons)); d != "" {
				t.Error(d)
			}
			if left := rows(t, db, others); len(left) > 0 {
				t.Errorf("exclusive values in %q", left)
			}
			if d := cmp.Diff([]string{"warning generated-code"}, rows(t, db, "SELECT severity, reason FROM problems WHERE reason IN ('generated-code', 'missing-load-object') AND file NOT LIKE '%.so%' AND file <> '[vdso]'")); d != "" {
				t.Error(d)
			}
		})
	}
}

// Functions keep their names if the program maps its text again, and for any layout of segments in
// file and memory (S2).
func TestTextMappedAgain(t *testing.T) {
	programs := []string{"twice", "together", "parted"}
	files := []string{"libold.so", "libold.so", "libplain.so", "libplain.so"}
	var recordings []string
	for _, p := range programs {
		files = append(files, p, p)
		recordings = append(recordings, p+".er", p+".data")
	}
	db, _ := ingest(t, root(t, files...), recordings...)
	var want []string
	for _, r := range recordings {
		for _, f := range []string{"first", "second", "third", "fourth", "in_library", "in_plain"} {
			want = append(want, r+" "+f)
		}
	}
	slices.Sort(want)
	got := rows(t, db, `SELECT experiment, function FROM function_metrics
		WHERE mode = 'user' AND metric IN ('totalcpu', 'cpu-clock:u') AND exclusive > 2000000 AND function <> '<Total>'`)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if problems := rows(t, db, "SELECT file, message FROM problems WHERE reason = 'wrong-load-object'"); len(problems) > 0 {
		t.Errorf("%q", problems)
	}
}

// Without the file, the mappings of a program that maps its text again are functions that share
// offsets (S6): each of their instructions is a separate location, and all sums are right.
func TestTextMappedAgainWithoutFile(t *testing.T) {
	recordings := []string{"twice.er", "twice.data", "together.er", "together.data", "parted.er", "parted.data"}
	db, _ := ingest(t, t.TempDir(), recordings...)
	suite.CheckInvariants(t, db, len(recordings))
	const shared = `SELECT DISTINCT e.experiment FROM experiments e JOIN locations_wide l USING (experiment_id)
		GROUP BY e.experiment, load_object_id, "offset" HAVING count(*) > 1 AND count(DISTINCT location_id) = count(*)`
	if d := cmp.Diff([]string{"parted.data", "together.data", "twice.data"}, rows(t, db, shared)); d != "" {
		t.Error("recordings with shared offsets", d)
	}
}

// build has the names of a program's functions, the problems, and the build that they came from.
type build struct{ functions, problems, id string }

// named ingests a recording of the program `version` with another file at its path, modified some
// time after the recording began.
func named(t *testing.T, recording, file string, after time.Duration) build {
	t.Helper()
	dir := t.TempDir()
	if file != "" {
		dir = root(t, "version", file)
	}
	began := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	if strings.HasSuffix(recording, ".data") { // its file's time is when it ended
		if err := os.Chtimes(filepath.Join(folder, recording), began, began); err != nil {
			t.Fatal(err)
		}
	} else {
		rec := gprofng.New().Open(t.Context(), filepath.Join(folder, recording))
		began = rec.Started
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if at := filepath.Join(dir, recorded, "version"); file != "" {
		if err := os.Chtimes(at, began.Add(after), began.Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	db, results := ingest(t, dir, recording)
	if results[0].Lost() {
		t.Errorf("%s: %v", results[0].Status, results[0].Problems)
	}
	if after > 0 && file != "" {
		const times = "SELECT message FROM problems WHERE reason = 'modified-load-object'"
		for _, message := range rows(t, db, times) {
			if !strings.Contains(message, began.Add(after).Format(time.RFC3339)) || !strings.Contains(message, "began at "+began.Format("2006-01-02T")) {
				t.Errorf("%s does not name both times", message)
			}
		}
	}
	return build{
		strings.Join(rows(t, db, "SELECT DISTINCT function FROM function_metrics WHERE load_object = 'version' AND exclusive > 0 AND mode = 'user'"), " "),
		strings.Join(rows(t, db, "SELECT severity, reason FROM problems WHERE file LIKE '%/version'"), " "),
		strings.Join(rows(t, db, "SELECT load_object_id FROM load_objects WHERE name = 'version'"), " "),
	}
}

// A file that differs from the recorded program names functions with a warning, or not at all; two
// builds at one path are two load objects.
func TestRebuilt(t *testing.T) {
	const one, two, static = "one_less one_more", "two_less two_more", "<static>@0x1000"
	const hour = time.Hour
	modified := "warning modified-load-object"
	for _, c := range []struct {
		recording, file string
		after           time.Duration
		functions       string
		problems        string
	}{
		{"bare.data", "bare1", -hour, one, ""},
		{"bare.data", "bare1", time.Second, one, ""}, // both may be copies that were made together
		{"bare.data", "bare1", hour, one, modified},
		{"bare.data", "bare2", hour, two, modified},
		{"bare.data", "", 0, static, "warning missing-load-object"},
		{"bare.er", "bare1", -hour, one, ""},
		{"bare.er", "bare1", hour, one, modified},
		{"bare.er", "bare2", hour, two, modified},
		{"bare.er", "", 0, static, "warning missing-load-object"},
		{"marked.er", "marked1", -hour, one, ""},
		{"marked.er", "marked2", hour, two, modified}, // the recording has no build-id
		{"marked.data", "marked1", hour, one, ""},     // the recorded build-id proves that the file is the right one
		{"marked.data", "marked2", -hour, static, "warning wrong-build-id"},
		{"marked.data", "bare1", -hour, static, "warning wrong-build-id"},
		{"bare.er", "twice", -hour, static, "warning wrong-load-object"},
	} {
		t.Run(fmt.Sprintf("%s with %s after %v", c.recording, c.file, c.after), func(t *testing.T) {
			got := named(t, c.recording, c.file, c.after)
			if got.functions != c.functions || got.problems != c.problems {
				t.Errorf("%q, %q; want %q, %q", got.functions, got.problems, c.functions, c.problems)
			}
		})
	}
	ids := map[string]string{}
	for _, c := range [][2]string{{"bare.er", "bare1"}, {"bare.er", "bare2"}, {"bare.er", ""}, {"marked.er", "marked1"}, {"marked.er", "marked2"}} {
		id := named(t, c[0], c[1], -hour).id
		if other, ok := ids[id]; ok {
			t.Errorf("%v and %s have the id %s", c, other, id)
		}
		ids[id] = fmt.Sprint(c)
	}
	if ids[named(t, "bare.data", "bare1", -hour).id] != "[bare.er bare1]" {
		t.Error("one file has two ids")
	}
}

// A program that was rebuilt between two runs of one recording is two load
// objects: perf's build-id, read at the end, is the second's.
func TestReplacedWhileRecorded(t *testing.T) {
	for _, kind := range []string{"bare", "marked"} {
		db, _ := ingest(t, root(t, "version", kind+"2"), "replaced_"+kind+".data")
		got := rows(t, db, "SELECT function FROM function_metrics WHERE load_object = 'version' AND exclusive > 0 AND mode = 'user' AND metric = 'cpu-clock:u'")
		if d := cmp.Diff([]string{"<static>@0x1000", "two_less", "two_more"}, got); d != "" {
			t.Error(kind, d)
		}
		if n := rows(t, db, "SELECT count(DISTINCT load_object_id) FROM load_objects WHERE name = 'version'"); n[0] != "2" {
			t.Errorf("%s: %s load objects", kind, n[0])
		}
		if d := cmp.Diff([]string{"warning wrong-load-object"}, rows(t, db, "SELECT severity, reason FROM problems WHERE file LIKE '%/version' AND reason = 'wrong-load-object'")); d != "" {
			t.Error(kind, d)
		}
	}
}
