package main

import (
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/peterh/liner"
	"github.com/rogpeppe/go-internal/testscript"

	"stackmill/internal/corpus"
	"stackmill/internal/terminal"
	"stackmill/queries/storetest"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/erbuild"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"stackmill": main, "gprofng": recorder})
}

// TestScripts runs the verbs over the store of two experiments that
// queries/storetest describes; $DATA is the one with data objects, $GROUPS one of two groups to compare, $RECORDINGS holds real recordings, $SOURCES the
// sources of some, $PROFILES a Go program's profiles, $DOCS the documentation.
func TestScripts(t *testing.T) {
	recordings, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Abs("../../testdata/gprofng/src")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	profiles, err := filepath.Abs("../../testdata/pprof")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"status": status, "steps": steps},
		Setup: func(env *testscript.Env) error {
			store := filepath.Join(env.WorkDir, "store")
			env.Setenv("STACKMILL_STORE", store)
			env.Setenv("RECORDINGS", filepath.Join(recordings, "exp"))
			env.Setenv("SOURCES", sources)
			env.Setenv("DOCS", docs)
			env.Setenv("PROFILES", profiles)
			env.Setenv("TMPDIR", os.TempDir())
			env.Setenv("DATA", filepath.Join(env.WorkDir, "data"))
			env.Setenv("GROUPS", filepath.Join(env.WorkDir, "groups"))
			groups := storetest.Groups("clock", storetest.Vary(9, map[string]int{"f": 100, "g": 200}), storetest.Vary(9, map[string]int{"f": 100, "g": 220, "h": 30}))
			return errors.Join(storetest.Build(store, storetest.Two), storetest.Build(filepath.Join(env.WorkDir, "data"), storetest.Data),
				storetest.Build(filepath.Join(env.WorkDir, "groups"), groups), compose(filepath.Join(env.WorkDir, "good.er")))
		},
	})
}

// compose makes a recording with three samples in one function.
func compose(dir string) error { return composeRun(dir, 3, 0) }

// composeRun makes a recording with some samples in one function, the first at a time.
func composeRun(dir string, samples int, first int64) error {
	e := erbuild.New(dir)
	e.Function(0, 0x1000, 0x100, "work")
	e.Declare(schema.Clock, `ptimer="1000" numstates="1"`)
	stack := e.Frame(0x1004)
	for i := range samples {
		e.Events(schema.Clock).Put(0, &erbuild.Layouts[schema.Clock][0],
			erbuild.Packet{Thread: 1, Time: first + int64(i)*1e6, Stack: stack, Values: []int64{10, 1}})
	}
	return e.Close()
}

// status runs a program and compares its exit status: `status 2 stackmill ...`.
func status(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if neg || err != nil {
		ts.Fatalf("usage: status N PROGRAM ARGS...")
	}
	got := 0
	var ended *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &ended) {
		got = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// typed gives the prompt lines as if typed; ^C stands for itself.
type typed struct {
	lines   []string
	history []string
	marks   string
}

func (t *typed) Prompt(mark string) (string, error) {
	t.marks += mark[:1]
	if len(t.lines) == 0 {
		return "", io.EOF
	}
	line := t.lines[0]
	t.lines = t.lines[1:]
	if line == "^C" {
		return "", liner.ErrPromptAborted
	}
	return line, nil
}

func (t *typed) AppendHistory(line string) { t.history = append(t.history, line) }

func TestPrompt(t *testing.T) {
	var out, errs strings.Builder
	a := &app{store: storetest.New(t, storetest.Two), Output: terminal.Output{Stdout: &out, Stderr: &errs}}
	db, err := a.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := &typed{lines: []string{
		"SELECT count(*) AS n", "", "FROM samples;",
		"SELECT dropped", "^C",
		"SELECT nonsense;",
		"CREATE TEMP TABLE kept AS SELECT 42 AS answer;", "FROM kept;",
		".schema modes", ".schema nothing", ".tables", ".help", "help;", "EXIT", "SELECT 'not reached';",
	}}
	if err := (&query{app: a, db: db, conn: conn}).loop(in); err != nil {
		t.Fatal(err)
	}
	if want := "s..s.sssssssss"; in.marks != want {
		t.Errorf("prompts %q, want %q", in.marks, want)
	}
	wantHistory := []string{"SELECT count(*) AS n FROM samples;", "SELECT nonsense;", "CREATE TEMP TABLE kept AS SELECT 42 AS answer;", "FROM kept;",
		".schema modes", ".schema nothing", ".tables", ".help", "help;", "EXIT"}
	if diff := cmp.Diff(wantHistory, in.history); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	for _, want := range []string{"\n11\n", "answer\n", "    42\n", "mode  ", "\nfunction_metrics ", "Ctrl-D"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	for _, want := range []string{`"nonsense"`, "no view or table nothing"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("the errors lack %q:\n%s", want, errs.String())
		}
	}
}

func TestCompletePrompt(t *testing.T) {
	words, err := completions()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ line, head, first, tail string }{
		{"sel", "", "SELECT", ""},
		{"SELECT * FROM function_m", "SELECT * FROM ", "function_metrics", ""},
		{".sch", "", ".schema", ""},
		{"SELECT f.exclu", "SELECT f.", "exclusive", ""},
		{"SELECT 'dürr' AS exclu", "SELECT 'dürr' AS ", "exclusive", ""},
	} {
		head, found, tail := complete(words, test.line, len([]rune(test.line)))
		if head != test.head || tail != test.tail || len(found) == 0 || found[0] != test.first {
			t.Errorf("%q: %q %q %q", test.line, head, found, tail)
		}
	}
	if _, found, _ := complete(words, "SELECT ", 7); found != nil {
		t.Errorf("nothing typed completes to %d words", len(found))
	}
}

// The history is its owner's, also when the file is an old one.
func TestHistoryIsPrivate(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "state"))
	name := historyFile()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	l := liner.NewLiner()
	l.AppendHistory("SELECT 'private'")
	if err := errors.Join(writeHistory(l, name), l.Close()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
		t.Errorf("%v, %v", info, err)
	}
}
