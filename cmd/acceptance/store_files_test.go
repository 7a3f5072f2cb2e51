package acceptance

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/testfiles"
	"stackmill/queries"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// tableFiles returns the checksum of every Parquet file of a store.
func tableFiles(t *testing.T, store string) map[string]string {
	t.Helper()
	files := map[string]string{}
	root := filepath.Join(store, "tables")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		files[name] = fmt.Sprintf("%x", sha256.Sum256(b))
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("files of %s: %v", store, err)
	}
	return files
}

// rowsOf returns the number of rows of each experiment in each table, and the sum of their hashes,
// without experiments' names and numbers of shared lists, which depend on other experiments.
func rowsOf(t *testing.T, store string) map[string]string {
	t.Helper()
	db, err := queries.Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows := map[string]string{}
	for _, table := range schema.Tables {
		if table == schema.Experiments || table == schema.Listings || table == schema.SourceFiles || !table.Has("experiment_id") {
			continue
		}
		sums, err := db.Records(t.Context(), "SELECT experiment_id AS id, concat(count(*), ' rows ', sum(hash(x)::HUGEINT)) AS rows FROM "+table.Name+" x GROUP BY 1")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range sums {
			rows[r.Text("id")+" "+table.Name] = r.Text("rows")
		}
	}
	return rows
}

// few are recordings with all kinds of data, for tests that ingest several times.
var few = []string{"recur", "heap", "io", "sync", "forkexec", "cxx", "dlreload"}

func paths(names []string) (ps []string) {
	for _, n := range names {
		ps = append(ps, filepath.Join(recordings, "exp", n+".er"))
	}
	return ps
}

// The same inputs give the same bytes, with any number of jobs and any cache.
func TestDeterminism(t *testing.T) {
	binary := program(t)
	var want map[string]string
	for _, flags := range [][]string{
		{"--jobs", "1", "--memory", "512MiB"},
		{"--jobs", "4", "--memory", "512MiB"},
		{"--jobs", "2", "--memory", "64MiB"},
	} {
		store := filepath.Join(t.TempDir(), "store")
		args := append(ingestArgs(store, t.TempDir(), flags...), paths(few)...)
		if code, stderr := runProgram(t, binary, args...); code != 0 {
			t.Fatalf("%v: exit status %d\n%s", flags, code, stderr)
		}
		got := tableFiles(t, store)
		if want == nil {
			want = got
		} else if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%v: %s", flags, d)
		}
	}
}

// Damaged recordings in the same command do not affect the good ones, and stored recordings are not
// read again.
func TestBatch(t *testing.T) {
	binary := program(t)
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	good := paths(few)
	damaged := testfiles.Glob(t, filepath.Join(recordings, "damaged", "*.er"))
	args := ingestArgs(store, filepath.Join(dir, "cache"))
	if code, stderr := runProgram(t, binary, append(append(args, damaged...), good...)...); code != 3 {
		t.Errorf("exit status %d, want 3\n%s", code, stderr)
	}
	alone := filepath.Join(dir, "alone")
	if code, stderr := runProgram(t, binary, append(ingestArgs(alone, filepath.Join(dir, "cache")), good...)...); code != 0 {
		t.Errorf("exit status %d of the good recordings alone\n%s", code, stderr)
	}
	files := tableFiles(t, store)
	rows, want := rowsOf(t, store), rowsOf(t, alone)
	for name, want := range want {
		if got := rows[name]; got != want {
			t.Errorf("%s: %s, without damaged recordings %s", name, got, want)
		}
	}
	if len(want) < 20*len(few) {
		t.Errorf("only %d tables of the good recordings", len(want))
	}
	if code, stderr := runProgram(t, binary, append(args, good...)...); code != 0 {
		t.Errorf("exit status %d when all is there already\n%s", code, stderr)
	}
	if d := cmp.Diff(files, tableFiles(t, store)); d != "" {
		t.Error("the second time changed the store:", d)
	}
}

// An ingest that is killed at any moment leaves a consistent store, and can be repeated.
func TestKill(t *testing.T) {
	binary := program(t)
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	begin := time.Now()
	args := func(store string) []string {
		return ingestArgs(store, filepath.Join(dir, "cache"), paths(few)...)
	}
	if code, stderr := runProgram(t, binary, args(whole)...); code != 0 {
		t.Fatalf("exit status %d\n%s", code, stderr)
	}
	took := time.Since(begin)
	want := tableFiles(t, whole)

	const kills = 8
	store := filepath.Join(dir, "killed")
	for i := range kills {
		if i%4 == 0 {
			if err := os.RemoveAll(store); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(binary, args(store)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(float64(took) * (float64(i) + rand.Float64()) / kills)
		time.Sleep(after)
		if err := cmd.Process.Kill(); err != nil && cmd.ProcessState == nil {
			t.Log(err) // the ingest was faster
		}
		_ = cmd.Wait()
		if _, err := os.Stat(filepath.Join(store, "commits")); err != nil {
			continue // killed before there was a store
		}
		if code, stderr := runProgram(t, binary, "check", "--store", store); code != 0 {
			t.Errorf("killed after %v: check says %d\n%s", after, code, stderr)
		}
	}
	if code, stderr := runProgram(t, binary, args(store)...); code != 0 {
		t.Fatalf("exit status %d\n%s", code, stderr)
	}
	if d := cmp.Diff(want, tableFiles(t, store)); d != "" {
		t.Error("not as if it had not been killed:", d)
	}
	if code, stderr := runProgram(t, binary, "check", "--store", store); code != 0 {
		t.Errorf("check says %d\n%s", code, stderr)
	}
}

// Independent ingests divide the same recordings into different batches: each experiment counts
// once, with its rows, also after its batch was damaged and repaired.
func TestOverlappingBatches(t *testing.T) {
	binary, dir := program(t), t.TempDir()
	var all []string
	for n := range 5 { // small ones, so that some share a batch
		for i := range 12 {
			path := filepath.Join(dir, "in", fmt.Sprintf("%d-%02d.er", n, i))
			compose(t, path, 10+12*n+i)
			all = append(all, path)
		}
	}
	store := func(name string, inputs ...string) string {
		s := filepath.Join(dir, name)
		if code, stderr := runProgram(t, binary, append(ingestArgs(s, filepath.Join(dir, "cache")), inputs...)...); code != 0 {
			t.Fatalf("exit status %d\n%s", code, stderr)
		}
		return s
	}
	want := rowsOf(t, store("whole", all...))
	one, other := store("one", all[:40]...), store("other", all[7:]...)
	for _, folder := range []string{"tables", "commits"} {
		if err := merge(filepath.Join(other, folder), filepath.Join(one, folder)); err != nil {
			t.Fatal(err)
		}
	}
	right := func(what string) {
		t.Helper()
		if code, stderr := runProgram(t, binary, "check", "--store", one); code != 0 {
			t.Errorf("%s: check says %d\n%s", what, code, stderr)
		}
		if d := cmp.Diff(want, rowsOf(t, one)); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	right("merged")
	shared := testfiles.Glob(t, filepath.Join(one, "tables", "functions", "b*.parquet"))
	if err := os.WriteFile(shared[0], []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _ := runProgram(t, binary, "check", "--store", one); code != 4 {
		t.Errorf("damaged: check says %d", code)
	}
	if code, stderr := runProgram(t, binary, "check", "--repair", "--store", one); code != 0 && code != 4 {
		t.Errorf("repair: exit status %d\n%s", code, stderr)
	}
	store("one", all...)
	right("repaired")
}

// compose makes a recording with n samples.
func compose(t *testing.T, dir string, n int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		t.Fatal(err)
	}
	e := gprofngtest.New(dir)
	e.Function(0, 0x1000, 0x100, "main")
	e.Declare(schema.Clock, `ptimer="1000" numstates="1"`)
	stack := e.Frame(0x1004)
	for i := range n {
		e.Events(schema.Clock).Put(0, &gprofngtest.Layouts[schema.Clock][0],
			gprofngtest.Packet{Thread: 1, Time: int64(i) * 1000, Stack: stack, Values: []int64{10, 1}})
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// merge copies the files that another folder lacks.
func merge(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(from, path)
		content, err := os.ReadFile(path)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o777)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), content, 0o666)
		}
		return err
	})
}
