package main

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stackmill/internal/corpus"
	"stackmill/internal/exit"
	"stackmill/queries/storetest"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// firstSteps fills the folder in which the README's commands run: two recordings, and a folder of
// ten nights, in which search becomes slower.
func firstSteps(t *testing.T, dir string) {
	perfRecordings(t, dir)
	recordings, err := corpus.Dir()
	err = errors.Join(err,
		os.Rename(filepath.Join(dir, "testdata/perf/p_recur_dwarf.data"), filepath.Join(dir, "perf.data")),
		os.CopyFS(filepath.Join(dir, "test.1.er"), os.DirFS(filepath.Join(recordings, "exp/recur.er"))))
	for n := range 10 {
		search := 200 + n*7%5
		if n >= 5 {
			search += 40
		}
		err = errors.Join(err, composeNight(filepath.Join(dir, "nights", fmt.Sprintf("2026-11-%02d", 10+n), "bench.er"), search, n))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// composeNight makes the recording of a night, with some 100 samples in parse and `search` samples
// in the function search.
func composeNight(dir string, search, n int) error {
	return composeNightOf(gprofngtest.New(dir), search, n)
}

func composeNightOf(e *gprofngtest.Experiment, search, n int) error {
	e.Function(0, 0x1000, 0x100, "search")
	e.Function(0, 0x1100, 0x100, "parse")
	e.Declare(schema.Clock, `ptimer="1000" numstates="1"`)
	inSearch, inParse := e.Frame(0x1004), e.Frame(0x1104)
	for i := range search + 100 + n*3%4 {
		stack := inSearch
		if i >= search {
			stack = inParse
		}
		e.Events(schema.Clock).Put(0, &gprofngtest.Layouts[schema.Clock][0],
			gprofngtest.Packet{Thread: 1, Time: int64(n) + int64(i)*1e6, Stack: stack, Values: []int64{10, 1}})
	}
	return e.Close()
}

// perfRecordings unpacks the recordings of perf below dir/testdata.
func perfRecordings(t *testing.T, dir string) {
	folder := filepath.Join(dir, "testdata")
	if err := errors.Join(os.Mkdir(folder, 0o777), corpus.Perf(folder)); err != nil {
		t.Fatal(err)
	}
}

// demoStore makes the store of `make demo`.
func demoStore(t *testing.T, dir string) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	ingest, _ := demo(t, root)
	recordings := t.TempDir()
	err = errors.Join(corpus.Unpack(filepath.Join(root, "testdata/gprofng/experiments.tar.gz"), recordings),
		os.Mkdir(filepath.Join(dir, "testdata"), 0o777),
		os.CopyFS(filepath.Join(dir, "testdata/gprofng/src"), os.DirFS(filepath.Join(root, "testdata/gprofng/src"))))
	if err != nil {
		t.Fatal(err)
	}
	args := append(ingest, "--store", filepath.Join(dir, "store"), "--no-system-debug", "--debug-dir", dir, filepath.Join(recordings, "exp"))
	if _, errs, status := call(args...); status != 0 && status != exit.Lost {
		t.Fatalf("status %d: %s", status, errs)
	}
}

// recordedByPerf replaces perf on docs/perf.md.
const recordedByPerf = `perf() { cp testdata/perf/p_cxx_dwarf.data perf.data; }
`

// perfStore makes a store of one program's recordings by perf and by gprofng, and of two other programs.
func perfStore(t *testing.T, dir string) {
	perfRecordings(t, dir)
	recordings, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"ingest", "--store", filepath.Join(dir, "store"), "--no-system-debug", "--debug-dir", dir, "--symfs", filepath.Join(dir, "testdata/symfs"),
		filepath.Join(dir, "testdata/perf/p_recur_dwarf.data"), filepath.Join(recordings, "exp/recur.er"),
		filepath.Join(dir, "testdata/perf/p_threads_s.data"), filepath.Join(dir, "testdata/perf/p_deep_dwarf.data")}
	if _, errs, status := call(args...); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	ingestWall(t, dir, "convoy_both", "calls_raw", "stat_interval")
}

// ingestWall ingests recordings of wall-clock time.
func ingestWall(t *testing.T, dir string, names ...string) {
	args := []string{"ingest", "--store", filepath.Join(dir, "store"), "--no-system-debug", "--symfs", "../../testdata/wall/symfs"}
	for _, name := range names {
		args = append(args, "../../testdata/wall/"+name+".data")
	}
	if _, errs, status := call(args...); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
}

// demoServer serves the store of `make demo`, and thirty nights of the machine web7, of which the last ten are slower. The files token, curlrc and address are for its clients.
func demoServer(t *testing.T, dir string) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	demoStore(t, dir)
	ingestNights(t, dir)
	ingestWall(t, dir, "convoy_both")
	const token = "0123456789abcdef0123456789abcdef"
	err := errors.Join(os.WriteFile(filepath.Join(dir, "token"), []byte(token), 0o600),
		os.WriteFile(filepath.Join(dir, "curlrc"), []byte(`header = "Authorization: Bearer `+token+`"`), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	serve := exec.CommandContext(t.Context(), "stackmill", "serve", "--store", "store", "--token-file", "token", "--listen", "127.0.0.1:0",
		"--metrics-by", "night,target", "--metrics-functions", "10")
	serve.Dir = dir
	stdout, err := serve.StdoutPipe()
	if err := errors.Join(err, serve.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Signal(os.Interrupt)
		_ = serve.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	address, found := strings.CutPrefix(strings.TrimSpace(line), "listening on http://")
	if err != nil || !found {
		t.Fatalf("serve prints %q: %v", line, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "address"), []byte(address), 0o600); err != nil {
		t.Fatal(err)
	}
}

func ingestNights(t *testing.T, dir string) {
	nights := t.TempDir()
	for n := range 30 {
		e := gprofngtest.New(filepath.Join(nights, fmt.Sprintf("night-%02d.er", n)))
		e.Host, e.Wall = "web7", time.Date(2026, 1, 1+n, 2, 0, 0, 0, time.UTC).Unix()
		search := 100 + n*7%5
		if n >= 20 {
			search += 30
		}
		if err := composeNightOf(e, search, n); err != nil {
			t.Fatal(err)
		}
	}
	if _, errs, status := call("ingest", "--store", filepath.Join(dir, "store"), "--no-system-debug", nights, "--recursive"); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
}

// fleetOfNights makes thirty nights of three programs in the folder nightly: indexer is slower since the
// 27th night, importer in the last night.
func fleetOfNights(t *testing.T, dir string) {
	for n := range 30 {
		for _, program := range []string{"indexer", "importer", "server"} {
			search := 100 + n*7%5
			if program == "indexer" && n >= 26 || program == "importer" && n == 29 {
				search += 15
			}
			e := gprofngtest.New(filepath.Join(dir, "nightly", fmt.Sprintf("2026-01-%02d", n+1), program+fmt.Sprintf(".%07x.er", 0x4a31000+n)))
			e.Host, e.Wall, e.Command = "web7", time.Date(2026, 1, 1+n, 2, 0, 0, 0, time.UTC).Unix(), "/opt/app/bin/"+program
			if err := composeNightOf(e, search, n+len(program)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// twoBuilds makes the store of docs/compare.md: forty runs each of two builds of a program, of which the second
// takes 10 % longer in search, with some noise, and two recordings of another program. rules.sql is
// the page's file of rules.
func twoBuilds(t *testing.T, dir string) {
	random := rand.New(rand.NewPCG(1, 2))
	side := func(search int) (runs []map[string]int) {
		for range 40 {
			run := map[string]int{}
			for name, value := range map[string]int{"compress": 99, "hash": 33, "parse": 82, "search": search, "sort": 66} {
				run[name] = value
			}
			for _, name := range slices.Sorted(maps.Keys(run)) {
				run[name] += int(math.Round(random.NormFloat64() * math.Sqrt(float64(run[name])) / 2))
			}
			runs = append(runs, run)
		}
		return runs
	}
	text := strings.NewReplacer(" m ", " cpu-clock ", "  m M ns", "  cpu-clock CPU-clock ns", "app /bin/app", "work /home/me/work", "gprofng 1000ms", "perf 1000ms").
		Replace(storetest.Groups("perf", side(199), side(219)))
	store := filepath.Join(dir, "store")
	page, err := os.ReadFile("../../docs/compare.md")
	rules := regexp.MustCompile("(?s)`rules.sql`:\n\n```sql\n(.*?)```").FindSubmatch(page)
	if err != nil || rules == nil {
		t.Fatalf("no rules: %v", err)
	}
	recordings, err := corpus.Dir()
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, "rules.sql"), rules[1], 0o666), storetest.Build(store, text)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"label", "base-*", "side=base"},
		{"label", "test-*", "side=test"},
		{"ingest", "--no-system-debug", filepath.Join(recordings, "exp/recur.er"), filepath.Join(recordings, "exp/recur_dw5.er")},
	} {
		if _, errs, status := call(append(args, "--store", store)...); status != 0 {
			t.Fatalf("%v: status %d: %s", args, status, errs)
		}
	}
}

// recordedSessions replaces the compiler and perf on docs/data-objects.md: the programs and the
// recordings are in testdata/data/sessions.tar.gz.
const recordedSessions = `
gcc() { while [ $# -gt 1 ]; do [ "$1" = -o ] && cp "testdata/symfs/tmp/demo/$2" .; shift; done; }
perf() { while [ $# -gt 1 ]; do [ "$1" = -o ] && cp "testdata/sessions/$2" .; shift; done; }
`

// sessions unpacks the recordings of docs/data-objects.md.
func sessions(t *testing.T, dir string) {
	if err := corpus.Unpack("../../testdata/data/sessions.tar.gz", filepath.Join(dir, "testdata")); err != nil {
		t.Fatal(err)
	}
}

// recordedShapes replaces perf and a script on docs/export.md.
const recordedShapes = `
perf() { case "$*" in *shapes.data*) cp testdata/perf/p_cxx_fp.data shapes.data;; *) cp testdata/perf/p_threads_s.data perf.data;; esac; }
flamegraph.pl() { cat; }
`

// exportStore makes the store of `make demo`, and has profiles of a Go program.
func exportStore(t *testing.T, dir string) {
	demoStore(t, dir)
	err := errors.Join(corpus.Perf(filepath.Join(dir, "testdata")), os.MkdirAll(filepath.Join(dir, "data"), 0o777))
	for _, name := range []string{"cpu.pb.gz", "heap.pb.gz"} {
		profile, e := os.ReadFile(filepath.Join("../../testdata/pprof", name))
		err = errors.Join(err, e, os.WriteFile(filepath.Join(dir, name), profile, 0o666))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// simulatedSlurm and simulatedRun replace sbatch and srun on docs/cluster.md: they run the array's
// tasks one after the other.
const simulatedSlurm = `#!/bin/bash
for task in $(seq 0 $(($(head -1 "${1%.slurm}" | jq '.chunks | length') - 1))); do
	SLURM_ARRAY_TASK_ID=$task bash "$1" >>"$1.log" 2>&1 || { status=$?; cat "$1.log"; exit $status; }
done
echo Submitted batch job 1
`

const simulatedRun = `#!/bin/bash
while [ "${1:0:1}" = - ]; do shift; done
exec "$@"
`

// clusterFolder makes a folder of ten recordings for docs/cluster.md.
func clusterFolder(t *testing.T, dir string) {
	err := errors.Join(os.Mkdir(filepath.Join(dir, "bin"), 0o777), os.WriteFile(filepath.Join(dir, "bin/sbatch"), []byte(simulatedSlurm), 0o777),
		os.WriteFile(filepath.Join(dir, "bin/srun"), []byte(simulatedRun), 0o777))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		if err := composeNight(filepath.Join(dir, "data/recordings", fmt.Sprintf("2026-11-%02d", 10+n), "bench.er"), 200, n); err != nil {
			t.Fatal(err)
		}
	}
}
