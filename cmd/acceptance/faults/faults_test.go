// Package faults runs the program while the machine fails: system calls that fail or at which it is
// killed, full disks, concurrent ingests. Whatever happens, the store is consistent, and after the
// next ingest it equals an undisturbed one.
//
// `go test` tries a few faults of each kind. With STACKMILL_SOAK=1, or -long, every call fails
// once, which takes half an hour.
package faults

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/queries"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

var long = flag.Bool("long", os.Getenv("STACKMILL_SOAK") != "", "fail every call of the system, not a few")

// Counters for the summary.
var injected, compared, different atomic.Int64

var scratch string // folder that is removed at the end

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	defer corpus.Remove()
	if scratch, err = os.MkdirTemp("", "stackmill-faults-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(scratch)
	code = m.Run()
	fmt.Printf("faults: %d injected, %d stores compared with an undisturbed one, %d differences\n", injected.Load(), compared.Load(), different.Load())
	return code, nil
}

// program builds the program.
var program = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(scratch, "stackmill")
	return binary, suite.Build(binary)
})

// worker builds the program without cgo, for the tasks of plans.
var worker = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(scratch, "stackmill-worker")
	return binary, suite.BuildWorker(binary)
})

// bench is what a test works with.
type bench struct {
	*testing.T
	binary     string
	recordings []string
	want       map[string]string // what readers see of an undisturbed store
	cache      string            // folder with a filled cache
}

// names are the ingested recordings; the second has lost data.
var names = []string{"exp/stripmain.er", "damaged/d_garbage_packet.er"}

// large returns copies of recordings, enlarged so that each has its own batch.
func large(names ...string) (paths []string, err error) {
	dir, err := corpus.Dir()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		path := filepath.Join(scratch, "large", name)
		paths = append(paths, path)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := os.CopyFS(path, os.DirFS(filepath.Join(dir, name))); err != nil {
			return nil, err
		}
		filler := filepath.Join(path, "filler")
		if err := errors.Join(os.WriteFile(filler, nil, 0o666), os.Truncate(filler, 4<<20)); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// reference makes the store of an undisturbed ingest.
var reference = sync.OnceValues(func() (string, error) {
	binary, err := program()
	if err != nil {
		return "", err
	}
	recordings, err := large(names...)
	if err != nil {
		return "", err
	}
	store := filepath.Join(scratch, "undisturbed")
	args := []string{"ingest", "--store", store, "--cache", filepath.Join(scratch, "cache"), "--no-system-debug", "--debug-dir", scratch, "--jobs", "1"}
	args = append(args, recordings...)
	out, err := exec.Command(binary, args...).CombinedOutput()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 3 {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	p, err := queries.Check(context.Background(), store, queries.CheckOptions{})
	if err == nil && len(p.Wrong)+len(p.Notes) > 0 {
		err = fmt.Errorf("the undisturbed store: %v %v", p.Wrong, p.Notes)
	}
	return store, err
})

func newBench(t *testing.T) *bench {
	t.Helper()
	store, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, want: content(t, store), cache: filepath.Join(scratch, "cache")}
	if b.binary, err = program(); err != nil {
		t.Fatal(err)
	}
	if b.recordings, err = large(names...); err != nil {
		t.Fatal(err)
	}
	return b
}

// ingest returns the arguments that ingest all recordings.
func (b *bench) ingest(store string, more ...string) []string {
	args := []string{"ingest", "--store", store, "--cache", b.cache, "--no-system-debug", "--debug-dir", scratch, "--jobs", "1"}
	return append(append(args, more...), b.recordings...)
}

// run runs the program, with or without a tracer.
func (b *bench) run(command ...string) (code int, out string) {
	b.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1") // few threads: the tracer counts calls per thread
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		b.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// content returns what readers see of a store: the checksums of the tables of every batch that
// counts.
func content(t *testing.T, store string) map[string]string {
	t.Helper()
	look, err := storedir.ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, b := range look.Batches {
		var experiments string
		for e := range b.Visible {
			experiments += e.ExperimentID + " " + e.Status + " "
		}
		for _, f := range b.Files {
			all[experiments+f.Table] = f.Checksum
			if table := schema.ByName(f.Table); table != nil && table.Has(schema.ListedIn) {
				all[experiments+f.Table] = listed(t, filepath.Join(store, filepath.FromSlash(f.Path)))
			}
		}
	}
	for _, d := range look.Damaged {
		all[d.Path()] = d.Err.Error()
	}
	return all
}

// listed returns a checksum of a file of lists without the batch's name, which depends on the
// store's earlier content.
func listed(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	table, err := pqarrow.ReadTable(t.Context(), f, nil, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return err.Error()
	}
	defer table.Release()
	sum := xxhash.New()
	for i := range int(table.NumCols()) {
		if c := table.Column(i); c.Name() != schema.ListedIn {
			for _, values := range c.Data().Chunks() {
				fmt.Fprintln(sum, c.Name(), values)
			}
		}
	}
	return fmt.Sprintf("%x", sum.Sum64())
}

// right checks a store after a fault: its contents are complete, and the same as in the undisturbed
// store.
func (b *bench) right(what, store string) {
	b.Helper()
	compared.Add(1)
	if _, err := os.Stat(filepath.Join(store, storedir.CommitsDir)); err != nil {
		return // there is no store yet
	}
	for name, sum := range content(b.T, store) {
		if b.want[name] != sum {
			different.Add(1)
			b.Errorf("%s: %s has content %s, undisturbed %q", what, name, sum, b.want[name])
			return
		}
	}
	b.check(what, store)
}

// check verifies a store's files. Views need no check: equal bytes give equal answers, and the
// undisturbed store's views were checked.
func (b *bench) check(what, store string) {
	b.Helper()
	p, err := queries.Check(b.Context(), store, queries.CheckOptions{FilesOnly: true})
	if err != nil || len(p.Wrong) > 0 {
		different.Add(1)
		b.Errorf("%s: %v, %v", what, p, err)
	}
}

// mended ingests again without faults. Then the whole store must be the same as the undisturbed
// one.
func (b *bench) mended(what, store string) {
	b.Helper()
	if code, out := b.run(append([]string{b.binary}, b.ingest(store)...)...); code != 0 && code != 3 {
		b.Errorf("%s: the next ingest gives %d\n%s", what, code, out)
		return
	}
	compared.Add(1)
	if d := cmp.Diff(b.want, content(b.T, store)); d != "" {
		different.Add(1)
		b.Errorf("%s: after the next ingest: %.2000s", what, d)
	}
	b.check(what, store)
	left := leftovers(b.T, store)
	if strings.HasPrefix(what, killing) {
		left = slices.DeleteFunc(left, func(name string) bool { return unsigned(filepath.Join(store, name)) })
	}
	if len(left) > 0 {
		b.Errorf("%s: left after the next ingest: %v", what, left)
	}
}

// killing is the fault that kills the program at a system call.
const killing = "signal=KILL"

// unsigned reports whether a file is a lock that does not say whose it is: the program was killed
// before it wrote that. Others respect such a lock for a day.
func unsigned(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() == 0 && strings.HasSuffix(path, ".lock")
}

// leftovers returns the files of a store that no commit names.
func leftovers(t *testing.T, store string) (left []string) {
	t.Helper()
	look, err := storedir.ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	known, unread := map[string]bool{queries.CatalogFile: true, storedir.JournalFile: true}, map[string]bool{}
	add := func(c storedir.Commit) {
		known[storedir.CommitsDir+"/"+c.Batch+".json"] = true
		for _, f := range c.Files {
			known[f.Path] = true
		}
	}
	for _, b := range look.Batches {
		add(b.Commit)
	}
	for _, c := range look.Metadata {
		add(c)
	}
	for _, r := range look.Replaced {
		add(r.Commit)
		known[r.Path()] = true
		unread[r.Batch] = r.Err != nil
	}
	found := map[string]bool{}
	for _, pattern := range []string{"*", ".*", "staging/*", "commits/*", "tables/*/*", "plans/*/.*"} {
		paths, err := filepath.Glob(filepath.Join(store, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			name, _ := filepath.Rel(store, p)
			if info, err := os.Stat(p); err == nil && (!info.IsDir() || strings.HasPrefix(name, ".c")) && !known[name] && !unread[storedir.BatchOf(name)] {
				found[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
