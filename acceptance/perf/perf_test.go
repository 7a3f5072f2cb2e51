// Package perf compares the store with what perf prints for its own recordings.
package perf

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/acceptance/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/stages/decode"
)

var (
	folder string // of the recordings
	shared *queries.DB
)

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if folder, err = os.MkdirTemp("", "stackmill-perf-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	if err := corpus.Perf(folder); err != nil {
		return 1, err
	}
	store := filepath.Join(folder, "store")
	if _, err := ingest(store, filepath.Join(folder, "perf")); err != nil {
		return 1, err
	}
	if shared, err = queries.Open(context.Background(), store); err != nil {
		return 1, err
	}
	defer shared.Close()
	return m.Run(), nil
}

func ingest(store string, paths ...string) ([]pipeline.Result, error) {
	return pipeline.Ingest(context.Background(), pipeline.Options{
		Store: store, Jobs: 2, Memory: 512 << 20, DebugDirs: []string{filepath.Join(folder, "none")},
		SymFS: filepath.Join(folder, "symfs"), Kallsyms: filepath.Join(folder, "kallsyms"), PerfMaps: filepath.Join(folder, "perf", "maps"),
	}, paths...)
}

// cases are the names of the good recordings.
func cases(t *testing.T) []string {
	found, err := filepath.Glob(filepath.Join(folder, "perf", "*.data"))
	if err != nil || len(found) == 0 {
		t.Fatal("no recordings", err)
	}
	for i, f := range found {
		found[i] = strings.TrimSuffix(filepath.Base(f), ".data")
	}
	return found
}

func query(t *testing.T, scan func(*sql.Rows) error, text string, args ...any) {
	t.Helper()
	rows, err := shared.Query(text, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// count is what an event counted in a function.
type count struct {
	Period, Samples int64
}

// key is an event, a load object and a function, `?` for one without a symbol.
type key struct{ Event, Object, Function string }

// A sample as `perf script` prints it, and the frame at the end of its line or
// on a line of its own.
var (
	scriptSample = regexp.MustCompile(`\s(\d+)\s+([a-zA-Z][\w:./-]*):(\s.*|)$`)
	scriptFrame  = regexp.MustCompile(`^\s*(?:[0-9a-f]+\s+)?([0-9a-f]+)\s+(.*)\s+\(([^()]*)\)$`)
	scriptData   = regexp.MustCompile(`^.*\)\s+([0-9a-f]{6,}\s)`) // the data address and its place
	scriptOffset = regexp.MustCompile(`\+0x[0-9a-f]+$`)
	compilerMark = regexp.MustCompile(`\.(constprop|isra|part|cold)(\.\d+)*$`)
)

// open opens a golden text, which may be compressed.
func open(t *testing.T, name, file string) io.Reader {
	t.Helper()
	path := filepath.Join(folder, "golden", name, file)
	if b, err := os.ReadFile(path); err == nil {
		return bytes.NewReader(b)
	}
	b, err := os.ReadFile(path + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// golden reads what perf says of each sample.
func golden(t *testing.T, name string) map[key]count {
	t.Helper()
	counts := map[key]count{}
	var period int64
	event, frame := "", []string(nil)
	flush := func() {
		if event == "" || frame == nil {
			return
		}
		function := scriptOffset.ReplaceAllString(frame[2], "")
		// S22, S24: perf does not know what these are.
		if function == "[unknown]" || strings.HasSuffix(function, "@plt") || function == "_init" {
			function = "?"
		}
		object := filepath.Base(frame[3])
		if function == "?" && decode.IsPerfMap("/tmp/"+object) { // S15
			object = "<Unknown>"
		}
		k := key{event, object, compilerMark.ReplaceAllString(function, "")}
		c := counts[k]
		counts[k] = count{c.Period + period, c.Samples + 1}
		event = ""
	}
	for lines := bufio.NewScanner(open(t, name, "script.txt")); lines.Scan(); {
		text := lines.Text()
		if strings.HasPrefix(text, "\t") { // the first of a chain that is no inlined function
			if frame = scriptFrame.FindStringSubmatch(text); frame != nil && frame[3] != "inlined" {
				flush()
			}
		} else if m := scriptSample.FindStringSubmatch(text); m != nil {
			flush()
			period, _ = strconv.ParseInt(m[1], 10, 64)
			event, frame = m[2], scriptFrame.FindStringSubmatch(scriptData.ReplaceAllString(m[3], "$1"))
		}
	}
	flush()
	return counts
}

// body matches the names of bodies (S11), which end with the compiler's.
var body = regexp.MustCompile(` -- OMP .* \[(.*)\]$`)

// bare is a function's name as perf shows it: without parameters and marks.
func bare(name string) string {
	if m := body.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	name, _, _ = strings.Cut(name, " [clone ")
	name = strings.TrimSuffix(name, " const")
	if !strings.HasSuffix(name, ")") {
		return name
	}
	depth := 0
	for i := len(name) - 1; i >= 0; i-- {
		switch name[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return name[:i]
			}
		}
	}
	return name
}

// The events' sums, and each function's own part, are perf's: of the sampled
// address itself, before any rule, under the name that perf shows.
func TestSelf(t *testing.T) {
	for _, name := range cases(t) {
		t.Run(name, func(t *testing.T) {
			want, got := golden(t, name), map[key]count{}
			query(t, func(r *sql.Rows) error {
				var k key
				var c count
				var kind string
				err := r.Scan(&k.Event, &k.Object, &k.Function, &kind, &c.Period, &c.Samples)
				if kind != "dynamic" {
					k.Function = bare(k.Function)
				}
				old := got[k]
				got[k] = count{old.Period + c.Period, old.Samples + c.Samples}
				return err
			}, `WITH leaves AS MATERIALIZED (
					SELECT p.event, p.value, f.location_id FROM perf_samples p
					JOIN samples s USING (experiment_id, sample)
					JOIN raw_frames f ON f.experiment_id = s.experiment_id AND f.raw_stack_id = s.raw_stack_id AND f.position = 0
					JOIN experiments e ON e.experiment_id = p.experiment_id WHERE e.experiment = ?
				), named AS MATERIALIZED (
					SELECT l.location_id, o.name AS object, CASE WHEN f.kind IN ('static', 'plt', 'unknown') OR f.name = '__restore_rt' THEN '?' ELSE f.perf_name END AS function, f.kind
					FROM locations l JOIN functions f USING (experiment_id, function_id)
					JOIN load_objects o ON o.experiment_id = l.experiment_id AND o.load_object_id = l.load_object_id
					JOIN experiments e ON e.experiment_id = l.experiment_id WHERE e.experiment = ?
				)
				SELECT event, object, function, kind, sum(value)::BIGINT, count(*) FROM leaves JOIN named USING (location_id) GROUP BY ALL`,
				name+".data", name+".data")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-perf +stackmill)\n%s", diff)
			}
		})
	}
}

// Every view's invariants hold for every recording.
func TestInvariants(t *testing.T) {
	proof, err := queries.Check(context.Background(), filepath.Join(folder, "store"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range proof.Wrong {
		t.Error(w)
	}
	if proof.Batches != len(cases(t)) {
		t.Errorf("%d batches", proof.Batches)
	}
}
