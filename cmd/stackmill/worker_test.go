package main

import (
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/corpus"
	"stackmill/internal/exit"
)

// mostWorker is the maximum size of the worker in bytes: each node of a cluster loads it.
const mostWorker = 25_000_000

// build builds the program, with cgo or without.
func build(t *testing.T, cgo string, flags ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "stackmill")
	c := exec.Command("go", append(append([]string{"build", "-tags", "duckdb_arrow", "-o", binary}, flags...), ".")...)
	c.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", c.Args, err, out)
	}
	return binary
}

// The worker is small, needs no libraries of its machine, and writes the same bytes into a store as
// the full program.
func TestWorker(t *testing.T) {
	recordings, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	perf := t.TempDir()
	if err := corpus.Perf(perf); err != nil {
		t.Fatal(err)
	}
	worker, full := build(t, "0", "-trimpath", "-ldflags", "-s -w"), build(t, "1")
	info, err := os.Stat(worker)
	if err != nil || info.Size() > mostWorker {
		t.Errorf("the worker has %d bytes, more than %d (%v): go tool nm -size -sort size names what is large", info.Size(), mostWorker, err)
	}
	f, err := elf.Open(worker)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the worker has a segment %v: it is not static", p.Type)
		}
	}
	want := filesBy(t, full, t.TempDir(), filepath.Join(recordings, "exp"), perf)
	got := filesBy(t, worker, t.TempDir(), filepath.Join(recordings, "exp"), perf)
	if len(want) < 50 {
		t.Errorf("%d files", len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the worker's tables (+) are not those of the program (-):\n%s", diff)
	}
	beside := filepath.Join(filepath.Dir(full), "stackmill-worker")
	if err := os.Rename(worker, beside); err != nil {
		t.Fatal(err)
	}
	worker = beside
	night := filepath.Join(t.TempDir(), "a.plan")
	c := exec.Command(full, "plan", "--store", t.TempDir(), "-o", night, filepath.Join(recordings, "exp", "recur.er"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if job, err := os.ReadFile(night + ".slurm"); err != nil || !strings.Contains(string(job), " "+beside+" ingest ") {
		t.Errorf("tasks do not run %s, %v:\n%s", beside, err, job)
	}
	for _, verb := range []string{"report", "query", "compact", "ingest --auto-compact x"} {
		c := exec.Command(worker, strings.Fields(verb)...)
		if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "use the full stackmill") {
			t.Errorf("%s: %v\n%s", verb, err, out)
		}
	}
}

// filesBy counts the table files that a program writes, by table and content.
func filesBy(t *testing.T, program, cache string, paths ...string) map[string]int {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	c := exec.Command(program, append([]string{"ingest", "--store", store, "--recursive", "--cache", cache}, paths...)...)
	if out, err := c.CombinedOutput(); err != nil && c.ProcessState.ExitCode() != exit.Lost {
		t.Errorf("%v: %s", err, out)
	} else if strings.Contains(string(out), cache) {
		t.Errorf("it speaks of the cache:\n%s", out)
	}
	files := map[string]int{} // names of batches are random
	tables := filepath.Join(store, "tables")
	err := filepath.WalkDir(tables, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files[fmt.Sprintf("%s %x", filepath.Base(filepath.Dir(path)), sha256.Sum256(content))]++
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return files
}

// Workers that fill a cache concurrently, cannot write to it, or find all its files truncated,
// ingest the same as a worker with its own cache.
func TestSharedCache(t *testing.T) {
	recordings, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	worker := build(t, "0", "-trimpath")
	var some []string
	for _, name := range []string{"cxx.er", "java.er", "omp_gcc.er", "forkexec.er", "heap.er", "jit_api.er"} {
		some = append(some, filepath.Join(recordings, "exp", name))
	}
	want := filesBy(t, worker, t.TempDir(), some...)
	same := func(what string, got map[string]int) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" || len(got) < 30 {
			t.Errorf("%s: other tables:\n%s", what, diff)
		}
	}
	cache := t.TempDir()
	got := make([]map[string]int, 4)
	var workers sync.WaitGroup
	for i := range got {
		workers.Go(func() { got[i] = filesBy(t, worker, cache, some...) })
	}
	workers.Wait()
	for _, g := range got {
		same("side by side", g)
	}
	before := cached(t, cache)
	for name := range before {
		if strings.HasPrefix(filepath.Base(name), ".") {
			t.Errorf("left %s", name)
		}
	}
	if readOnly := t.TempDir(); syscall.Mount(cache, readOnly, "", syscall.MS_BIND, "") != nil {
		t.Log("no folder can be mounted here to be read only")
	} else {
		defer func() { _ = syscall.Unmount(readOnly, syscall.MNT_DETACH) }()
		if err := syscall.Mount("", readOnly, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		same("read only", filesBy(t, worker, readOnly, some...))
		for name := range before {
			if strings.HasSuffix(name, ".table") {
				if err := os.Remove(filepath.Join(cache, name)); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		same("read only and not complete", filesBy(t, worker, readOnly, some...))
	}
	for name, content := range before {
		if err := os.WriteFile(filepath.Join(cache, name), []byte(content[:len(content)/2]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	same("cut short", filesBy(t, worker, cache, some...))
	if diff := cmp.Diff(before, cached(t, cache)); diff != "" {
		t.Error("what was cut short is not made again")
	}
}

// cached returns the content of a cache's files by their paths in it.
func cached(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(content)
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}
