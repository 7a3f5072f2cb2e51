package acceptance

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/cmd/acceptance/golden"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/stages/decode/gprofng/archive"
	sourcefiles "stackmill/stages/symbolize/source"
)

// The sources of some of the programs, and where they were compiled.
const (
	compiledFrom = "/tmp/corpus/src"
	sources      = "../../testdata/gprofng/src"
)

// withSources ingests recordings together with their source texts.
func withSources(t *testing.T, names ...string) *queries.DB {
	t.Helper()
	var paths []string
	for _, n := range names {
		paths = append(paths, filepath.Join(recordings, "exp", n+".er"))
	}
	store := filepath.Join(t.TempDir(), "store")
	if _, err := pipeline.Ingest(context.Background(), pipeline.Options{
		Store: store, Jobs: 1, DebugDirs: []string{scratch}, Sources: []sourcefiles.Rule{{From: compiledFrom, To: sources}},
	}, paths...); err != nil {
		t.Fatal(err)
	}
	db, err := queries.Open(context.Background(), store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// The annotated source has every line of the file with its text, functions at their lines, and all
// their time; the sums are the same for DWARF 4 and 5.
func TestAnnotatedSource(t *testing.T) {
	db := withSources(t, "recur", "recur_dw5")
	for _, name := range []string{"recur.er", "recur_dw5.er"} {
		content, err := os.ReadFile(filepath.Join(sources, "recur.c"))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		functions := map[string]int{}
		var exclusive, high int64
		query(t, db.DB, func(r row) error {
			var line int
			var s, f string
			var e int64
			var h, code bool
			err := r.Scan(&line, &s, &f, &e, &h, &code)
			fmt.Fprintln(&text, s)
			if exclusive += e; h {
				high++
			}
			if f != "" {
				functions[f] = line
			}
			if code != strings.Contains(s, "{") {
				t.Errorf("%s: line %d has code: %v", name, line, code)
			}
			return err
		}, `SELECT line, text, functions, exclusive, high, has_code FROM source
			WHERE experiment = ? AND mode = 'user' AND metric = 'totalcpu' AND file = ? ORDER BY line`, name, compiledFrom+"/recur.c")
		if diff := cmp.Diff(string(content), text.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(map[string]int{"fact": 4, "is_even": 6, "is_odd": 7, "flat": 8, "main": 9}, functions); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if want := number(t, db.DB, `SELECT sum(exclusive) FROM function_metrics WHERE experiment = ? AND mode = 'user' AND metric = 'totalcpu'
			AND function IN ('fact', 'is_even', 'is_odd', 'flat', 'main')`, name); exclusive != want || want == 0 {
			t.Errorf("%s: the lines have %d ns, the functions %d", name, exclusive, want)
		}
		if high != 2 { // fact and, by inclusive time, main
			t.Errorf("%s: %d lines are high, want 2", name, high)
		}
	}
}

// Code inlined at a line is listed by function and line, at any depth (S10).
func TestInlinedSource(t *testing.T) {
	var got []string
	var exclusive int64
	query(t, shared.DB, func(r row) error {
		var path string
		var e, i int64
		err := r.Scan(&path, &e, &i)
		got = append(got, path)
		exclusive += e
		if e > i || i == 0 {
			t.Errorf("%s: exclusive %d, inclusive %d", path, e, i)
		}
		return err
	}, `SELECT path, exclusive, inclusive FROM source_inlined WHERE experiment = 'clones.er' AND mode = 'user' AND metric = 'totalcpu'
		AND line = 34 ORDER BY path`)
	if diff := cmp.Diff([]string{"in_outer:33", "in_outer:33 > in_inner:32"}, got); diff != "" {
		t.Error(diff)
	}
	inner := number(t, shared.DB, `SELECT sum(exclusive) FROM inline_function_metrics WHERE experiment = 'clones.er' AND mode = 'user'
		AND metric = 'totalcpu' AND function IN ('in_inner', 'in_outer')`)
	if exclusive != inner || inner == 0 {
		t.Errorf("the places have %d ns, the functions inlined there %d", exclusive, inner)
	}
}

// Missing sources give one remark, and nothing else is lost.
func TestMissingSources(t *testing.T) {
	if n := number(t, shared.DB, "SELECT count(*) FROM (SELECT experiment_id FROM problems WHERE reason = 'missing-source' GROUP BY ALL HAVING count(*) > 1)"); n != 0 {
		t.Errorf("%d recordings have several remarks", n)
	}
	missing := number(t, shared.DB, `SELECT count FROM problems JOIN experiments USING (experiment_id)
		WHERE experiment = 'recur.er' AND reason = 'missing-source' AND severity = 'info'`)
	if files := number(t, shared.DB, "SELECT count(DISTINCT file) FROM source WHERE experiment = 'recur.er' AND text IS NULL"); missing != files || files == 0 {
		t.Errorf("%d files have no text, the remark says %d", files, missing)
	}
	if n := number(t, shared.DB, `SELECT count(*) FROM source WHERE experiment = 'recur.er' AND mode = 'user' AND file LIKE '%/recur.c' AND exclusive > 0`); n != 4 {
		t.Errorf("%d lines without text have time, want 4", n)
	}
}

// A file with fewer lines than the compiled one is not shown.
func TestStaleSource(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "recur.c"), []byte("int main(void) { return 0; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "store")
	results, err := pipeline.Ingest(context.Background(), pipeline.Options{Store: store, Jobs: 1, DebugDirs: []string{scratch},
		Sources: []sourcefiles.Rule{{To: dir, Any: true}}}, filepath.Join(recordings, "exp", "recur.er"))
	if err != nil {
		t.Fatal(err)
	}
	stale := 0
	for _, p := range results[0].Problems {
		if p.Reason == "stale-source" && strings.Contains(p.Message, "has 1 lines, but the program has code from line 9") {
			stale++
		}
	}
	if stale != 1 || results[0].Status != pipeline.Complete {
		t.Errorf("%d remarks on a stale source, status %s: %v", stale, results[0].Status, results[0].Problems)
	}
}

// Names of call targets: within the object, of recursive calls, and in another object, through each
// kind of procedure linkage table and without one.
func TestCallTargets(t *testing.T) {
	for _, test := range []struct{ recording, function, targets string }{
		{"recur", "fact", "fact"}, {"recur", "is_even", "is_odd"}, {"recur", "is_odd", "is_even"},
		{"recur", "main", "fact flat is_even"}, {"recur", "flat", ""},
		{"plt_lazy", "caller_inc", "ext_inc@plt"}, {"plt_sec", "caller_inc", "ext_inc@plt"}, {"plt_noplt", "caller_inc", "ext_inc"},
	} {
		var got []string
		query(t, shared.DB, func(r row) error {
			var s string
			err := r.Scan(&s)
			got = append(got, s)
			return err
		}, `SELECT DISTINCT target_name FROM disasm WHERE experiment = ? AND mode = 'user' AND function = ? AND load_object = ?
			AND text LIKE 'call%' ORDER BY 1`, experiment(test.recording), test.function, test.recording)
		if strings.Join(got, " ") != test.targets {
			t.Errorf("%s: %s calls %q, want %s", test.recording, test.function, got, test.targets)
		}
	}
}

// The instructions of every completely disassembled function equal objdump's.
func TestInstructionsAreObjdumps(t *testing.T) {
	if _, err := exec.LookPath("objdump"); err != nil {
		if os.Getenv("STACKMILL_REQUIRE_GPROFNG") == "1" {
			t.Fatal("STACKMILL_REQUIRE_GPROFNG is set:", err)
		}
		t.Skip(err)
	}
	type code struct {
		experiment, name      string
		address, end, reached int64
		sizes                 map[int64]int64
	}
	objects := map[string]map[int64]*code{} // by path and build-id, then address
	query(t, shared.DB, func(r row) error {
		var id, name, experiment string
		var start, size, at, n int64
		err := r.Scan(&experiment, &id, &name, &start, &size, &at, &n)
		if objects[id] == nil {
			objects[id] = map[int64]*code{}
		}
		f := objects[id][start]
		if f == nil {
			f = &code{experiment: experiment, name: name, address: start, end: start + size, reached: start, sizes: map[int64]int64{}}
			objects[id][start] = f
		}
		if f.sizes[at] = n; f.reached == at {
			f.reached += n
		}
		return err
	}, `SELECT min(e.experiment), o.path || ' ' || o.build_id, f.name, f.address, f.size, i."offset" - f."offset" + f.address AS place, i.size
		FROM instructions_wide i JOIN functions f USING (experiment_id, function_id) JOIN experiments e USING (experiment_id)
		JOIN load_objects o ON o.experiment_id = f.experiment_id AND o.load_object_id = f.load_object_id
		WHERE o.symbols = 'archive' AND f.kind NOT IN ('static', 'plt') GROUP BY ALL ORDER BY place`)
	compared := 0
	for id, functions := range objects {
		path, _, _ := strings.Cut(id, " ")
		var file string
		low, high := int64(1<<62), int64(0)
		for _, f := range functions {
			file = filepath.Join(recordings, "exp", f.experiment, archive.Dir, archive.Name(path))
			low, high = min(low, f.address), max(high, f.end)
		}
		theirs := objdumpSizes(t, file, low, high)
		for _, f := range functions {
			if f.reached < f.end {
				continue // only code near the PCs is disassembled
			}
			compared++
			want := map[int64]int64{}
			for at := f.address; at < f.end && theirs[at] > 0; at += theirs[at] {
				want[at] = theirs[at]
			}
			if diff := cmp.Diff(want, f.sizes); diff != "" {
				t.Errorf("%s in %s: objdump's (-) and our (+) instructions:\n%s", f.name, path, diff)
			}
		}
	}
	if compared < 200 {
		t.Errorf("only %d functions compared", compared)
	}
}

// objdumpSizes returns the sizes of the instructions between two addresses.
func objdumpSizes(t *testing.T, file string, low, high int64) map[int64]int64 {
	t.Helper()
	out, err := exec.Command("objdump", "-d", "-w", "-z", fmt.Sprintf("--start-address=%d", low), fmt.Sprintf("--stop-address=%d", high), file).Output()
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[int64]int64{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		at, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(fields[0]), ":"), 16, 64)
		if err != nil || len(fields) < 2 {
			continue
		}
		code := strings.Fields(fields[1])
		if code[0] == "9b" && len(code) > 1 { // fwait, printed together with the next instruction
			sizes[at] = 1
			at, code = at+1, code[1:]
		}
		sizes[at] = int64(len(code))
	}
	return sizes
}

// Sources in the collector's archive are read from there, even if the originals are gone.
func TestArchivedSource(t *testing.T) {
	gprofng := peer(t)
	dir := t.TempDir()
	file, program, path := filepath.Join(dir, "allocating.c"), filepath.Join(dir, "allocating"), filepath.Join(dir, "allocating.er")
	if err := os.WriteFile(file, []byte(allocating), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"gcc", "-gdwarf-4", "-O1", "-o", program, file},
		{gprofng, "collect", "app", "-p", "off", "-H", "on", "-a", "usedsrc", "-O", path, program},
		{"rm", file, program},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	store := filepath.Join(dir, "store")
	if _, err := ingest(store, "", path); err != nil {
		t.Fatal(err)
	}
	db, err := queries.Open(context.Background(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var got strings.Builder
	query(t, db.DB, func(r row) error {
		var s string
		err := r.Scan(&s)
		fmt.Fprintln(&got, s)
		return err
	}, "SELECT text FROM source WHERE mode = 'user' AND metric = 'heapalloccnt' AND file = ? ORDER BY line", file)
	if diff := cmp.Diff(allocating, got.String()); diff != "" {
		t.Error(diff)
	}
	if n := number(t, db.DB, `SELECT inclusive FROM disasm WHERE mode = 'user' AND metric = 'heapalloccnt'
		AND "function" = 'work' AND target_name = 'malloc@plt'`); n != 500 {
		t.Errorf("%d allocations at the call of malloc, want 500", n)
	}
}

// Annotated source and disassembly have the same values, marks and index lines as gprofng's.
func TestPeerSource(t *testing.T) {
	gprofng := peer(t)
	db := withSources(t, "recur")
	dir, err := filepath.Abs(sources)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ report, of, sql string }{
		{"source", "recur.c", `SELECT exclusive, inclusive, high, text, functions FROM source
			WHERE mode = 'user' AND metric = 'totalcpu' AND file LIKE '%/recur.c' ORDER BY line`},
		{"disasm", "is_even", `SELECT exclusive, inclusive, high, lower(hex(address)) || ':', '' FROM disasm
			WHERE mode = 'user' AND metric = 'totalcpu' AND function = 'is_even' ORDER BY code_offset`},
	} {
		out, err := exec.Command(gprofng, "display", "text", "-metrics", "e.totalcpu:i.totalcpu", "-pathmap", compiledFrom, dir,
			"-"+test.report, test.of, filepath.Join(recordings, "exp", "recur.er")).Output()
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for _, l := range strings.Split(string(out), "\n") {
			if m := peerLine[test.report].FindStringSubmatch(l); m != nil {
				want = append(want, fmt.Sprintf("%s %s %s %s", strings.TrimSpace(m[1]), m[2], m[3], m[4]))
			}
		}
		query(t, db.DB, func(r row) error {
			var e, i int64
			var high bool
			var text, functions string
			err := r.Scan(&e, &i, &high, &text, &functions)
			mark := map[bool]string{true: "##"}[high]
			if e+i > 0 || test.report == "disasm" {
				got = append(got, fmt.Sprintf("%s %s %s %s", mark, golden.Print("ns", e), golden.Print("ns", i), text))
			}
			return err
		}, test.sql)
		if diff := cmp.Diff(want, got); diff != "" || len(want) < 5 {
			t.Errorf("%s of %s: gprofng's (-) and ours (+):\n%s", test.report, test.of, diff)
		}
	}
}

// peerLine matches a line with values: its mark, the values, and the text or address.
var peerLine = map[string]*regexp.Regexp{
	"source": regexp.MustCompile(`^(##| {2}) ([\d.]+) +([\d.]+) +\d+\. (.*)$`),
	"disasm": regexp.MustCompile(`^(##| {2}) ([\d.]+) +([\d.]+) +\[\d+\] +([0-9a-f]+:)`),
}
