package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"stackmill/internal/corpus"
	"stackmill/queries/storetest"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"stackmill": main, "recorded-perf": recordedPerf})
}

// TestScripts runs the verbs on a store of the two experiments that queries/storetest describes. In
// scripts, $DATA is a store with data objects, $GROUPS one with two groups to compare, $RECORDINGS
// a folder of real recordings, $SOURCES the sources of some of them, $PROFILES a Go program's
// profiles, $PERF archives of perf's recordings, and $DOCS the documentation.
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
	perf, err := filepath.Abs("../../testdata/perf")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"status": status},
		Setup: func(env *testscript.Env) error {
			store := filepath.Join(env.WorkDir, "store")
			env.Setenv("STACKMILL_STORE", store)
			env.Setenv("RECORDINGS", filepath.Join(recordings, "exp"))
			env.Setenv("SOURCES", sources)
			env.Setenv("DOCS", docs)
			env.Setenv("PROFILES", profiles)
			env.Setenv("PERF", perf)
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
	e := gprofngtest.New(dir)
	e.Function(0, 0x1000, 0x100, "work")
	e.Declare(schema.Clock, `ptimer="1000" numstates="1"`)
	stack := e.Frame(0x1004)
	for i := range samples {
		e.Events(schema.Clock).Put(0, &gprofngtest.Layouts[schema.Clock][0],
			gprofngtest.Packet{Thread: 1, Time: first + int64(i)*1e6, Stack: stack, Values: []int64{10, 1}})
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
