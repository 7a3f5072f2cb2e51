package synthetic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/export"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := corpus.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// rewritten are recordings of each kind of data, with descendants, inlined and OpenMP code,
// linkage tables, truncated stacks and the program that ran.
var rewritten = map[string]string{
	"recur": "recur", "threads": "threads", "heap": "heap", "sync": "sync", "io": "io", "all": "cxx", "omp_gcc": "omp_gcc",
	"forkexec": "forkexec", "plt_lazy": "plt_lazy", "deep": "deep", "signals": "signals", "dlreload": "dlreload", "clones": "clones",
}

// A recording has the same values in each collector's form: all values if copies of load objects
// are archived; the values of the program's own functions if only their symbols are.
func TestRewritten(t *testing.T) {
	recordings, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, program := range rewritten {
		t.Run(name, func(t *testing.T) {
			from := filepath.Join(recordings, "exp", name+".er")
			want := rewrittenValues(t, from, program)
			for _, form := range gprofngtest.Forms[1:] {
				to := filepath.Join(dir, form.String(), name+".er")
				if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := rewrite(from, to, form, allTraits()); err != nil {
					t.Fatal(err)
				}
				compareRewritten(t, form, want, rewrittenValues(t, to, program))
			}
		})
	}
}

// Recordings with a single trait are read, too.
func TestTraits(t *testing.T) {
	recordings, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(recordings, "exp", "threads.er")
	want := rewrittenValues(t, from, "threads")
	for changed := range allTraits() {
		to := filepath.Join(t.TempDir(), "threads.er")
		if err := rewrite(from, to, gprofngtest.Studio123, map[trait]bool{changed: true}); err != nil {
			t.Fatal(err)
		}
		form := gprofngtest.Studio126
		if changed == traitArchives {
			form = gprofngtest.Studio123
		}
		compareRewritten(t, form, want, rewrittenValues(t, to, "threads"))
	}
}

// rewrittenResult has the compared values of a recording.
type rewrittenResult struct {
	Own, All, Other []string // functions of the program; all functions; everything else
}

func rewrittenValues(t *testing.T, path, program string) rewrittenResult {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	if _, err := suite.Ingest(pipeline.Options{Store: dir}, path); err != nil {
		t.Fatal(err)
	}
	db, err := queries.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const functions = `SELECT mode, metric, function, load_object, exclusive, inclusive FROM function_metrics `
	return rewrittenResult{
		// Names of bodies need lines.
		Own: lines(t, db, functions+`WHERE mode = 'machine' AND load_object IN ('<Total>', '`+program+`') AND kind <> 'body' ORDER BY ALL`),
		All: lines(t, db, functions+`ORDER BY ALL`),
		Other: lines(t, db, `SELECT 'experiment', status, samples, word_bits, page_size, 0 FROM experiments
			UNION ALL SELECT 'process', lineage, pid, ppid, 0, length(command) FROM processes
			UNION ALL SELECT 'problem', reason, count, 0, 0, 0 FROM problems WHERE severity <> 'info' AND reason <> 'cut-stacks'
			UNION ALL SELECT metric, load_object, sum(exclusive), 0, 0, 0 FROM load_object_metrics WHERE mode = 'machine' AND load_object NOT LIKE '<%' GROUP BY ALL
			UNION ALL SELECT metric, 'thread', value, 0, 0, row_number() OVER (PARTITION BY metric ORDER BY value) FROM thread_metrics WHERE mode = 'machine' ORDER BY ALL`),
	}
}

func compareRewritten(t *testing.T, form gprofngtest.Form, want, got rewrittenResult) {
	t.Helper()
	if form == gprofngtest.Studio123 {
		want.All, got.All = nil, nil
	}
	if len(want.Own) < 2 || len(want.Other) < 4 {
		t.Fatalf("nothing to compare: %v", want)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%v: %.3000s", form, diff)
	}
}

// If only a load object's symbol table is archived, its functions have no lines, and nothing is
// reported as missing.
func TestArchivedSymbolTable(t *testing.T) {
	e := gprofngtest.NewIn(gprofngtest.Studio123, filepath.Join(t.TempDir(), "symbols.er"))
	e.Segment(0, 0x400000, 0x1000, 0, 1, "/home/me/prog")
	e.Segment(0, 0x401000, 0x1000, 0x1000, 5, "/home/me/prog")
	e.ArchiveSymbols("/home/me/prog", gprofngtest.SymbolTable("/home/me/prog", 1, 0x1000,
		gprofngtest.SymbolModule{Object: "(unknown)", Source: "(unknown)", Functions: []gprofngtest.SymbolFunction{{Offset: 0x1020, Size: 0x40, Name: "@plt"}}},
		gprofngtest.SymbolModule{Language: 4, Object: "/home/me/prog", Source: "/home/me/prog.cc", Functions: []gprofngtest.SymbolFunction{
			{Offset: 0x1100, Size: 0x80, Name: "main"}, {Offset: 0x1180, Size: 0x80, Name: "_ZN1A1fEi"},
		}}))
	e.Declare(schema.Clock, `ptimer="1000" numstates="1"`)
	for i, stack := range []uint64{e.Frame(0x401190, 0x401110), e.Frame(0x401025, 0x401120), e.Frame(0x401300, 0x401120), e.Frame(0x400010, 0x401120)} {
		put(e, schema.Clock, 0, int64(i)*ms, stack, 0, 1)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	db := store(t, e.Dir)
	for question, want := range map[string][]string{
		`SELECT function, kind, module, load_object, exclusive // 1000000, inclusive // 1000000 FROM function_metrics WHERE mode = 'user' ORDER BY ALL`: {
			"<Total> artificial (unknown) <Total> 4 4", "<Unknown> unknown (unknown) <Unknown> 1 1", "<static>@0x1200 static (unknown) prog 1 1",
			"A::f(int) normal /home/me/prog.cc prog 1 1", "main normal /home/me/prog.cc prog 1 4",
		},
		`SELECT file, line FROM line_metrics WHERE mode = 'user' AND file <> ''`: nil,
		`SELECT reason FROM problems WHERE severity <> 'info'`:                   nil,
		`SELECT status FROM experiments`:                                         {"complete"},
		`SELECT reason FROM locations WHERE reason <> '' ORDER BY ALL`:           {"PC in a data section"},
		`SELECT symbols, functions FROM load_objects WHERE name = 'prog'`:        {"archive 3"},
		`SELECT file_offset, permissions FROM segments ORDER BY ALL`:             {"0 1", "4096 5"},
	} {
		if diff := cmp.Diff(want, lines(t, db, question)); diff != "" {
			t.Errorf("%s: %s", question, diff)
		}
	}
}

// If thread ids are addresses, the main thread is the first one to appear.
func TestMainThreadOfAddresses(t *testing.T) {
	e := gprofngtest.NewIn(gprofngtest.Studio123, filepath.Join(t.TempDir(), "threads.er"))
	mapProgram(e)
	e.Declare(schema.Clock, `ptimer="1000" numstates="1"`)
	for i, thread := range []int64{0x7fa41ea77700, 0x7fa410000700, 0x7fa420000700, 0x7fa410000700} {
		e.Events(schema.Clock).Put(0, &e.Layouts(schema.Clock)[0], gprofngtest.Packet{Thread: thread, Time: int64(i) * ms, Stack: e.Frame(pcWork, pcMain), Values: []int64{0, 1}})
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := export.Write(t.Context(), store(t, e.Dir), export.Request{As: "firefox", Metric: "totalcpu", Mode: "user"}, &b); err != nil {
		t.Fatal(err)
	}
	var p struct {
		Threads []struct {
			IsMainThread bool
			TID          int64
		}
	}
	if err := json.Unmarshal(b.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	var main []string
	for _, th := range p.Threads {
		if th.IsMainThread {
			main = append(main, fmt.Sprintf("%#x", th.TID))
		}
	}
	if len(p.Threads) != 3 || !slices.Equal(main, []string{"0x7fa41ea77700"}) {
		t.Errorf("%d threads, main ones: %v", len(p.Threads), strings.Join(main, " "))
	}
}
