package s3

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stackmill/internal/testfiles"
	"stackmill/schema/storedir"
)

// spoilings are the kinds of damage to a file of a cache.
var spoilings = []struct {
	name  string
	spoil func(content []byte) []byte
}{
	{"emptied", func([]byte) []byte { return nil }},
	{"flipped", flipped},
	{"cut", func(content []byte) []byte { return content[:len(content)/2] }},
	{"longer", func(content []byte) []byte { return append(content, 0) }},
	{"zeros", func(content []byte) []byte { return make([]byte, len(content)) }},
}

// mirrored returns the files in a machine's cache that match a pattern.
func (m *machine) mirrored(pattern string) (files []string) {
	m.Helper()
	return testfiles.Glob(m, filepath.Join(m.cache, "stackmill/stores/*", pattern))
}

// spoil changes a file, and keeps its times if keep is set.
func (s *server) spoil(file string, keep bool, spoil func([]byte) []byte) {
	s.Helper()
	info, err := os.Stat(file)
	if err != nil {
		s.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, spoil(content), 0o666)
	}
	if err == nil && keep {
		err = os.Chtimes(file, info.ModTime(), info.ModTime())
	}
	if err != nil {
		s.Fatal(err)
	}
}

// A machine's cache is a copy: whatever happens to it, readers get the bucket's content, repairs do
// not write to the bucket, and several programs may repair the cache at once.
func TestSpoiledMirror(t *testing.T) {
	s := serve(t)
	dir := t.TempDir()
	a := s.machine()
	const experiments = 2
	for n := range experiments {
		record(t, filepath.Join(dir, fmt.Sprint(n)), n)
		a.does("ingest", "--store", store, "--cache", "", filepath.Join(dir, fmt.Sprint(n)))
	}
	query := []string{"query", "--store", store, "--format", "csv", sums}
	right := func(what string, words ...string) {
		t.Helper()
		if code, out := a.run(words...); code != 0 || !strings.HasSuffix(strings.ReplaceAll(out, "\r", ""), truth(0, experiments)) {
			t.Errorf("%s: exit status %d\n%s", what, code, out)
		}
	}
	right("before", query...)
	before := s.sums("store")
	copies := []string{"store/commits/*.json", "store/tables/*/*.parquet", "store/stackmill.duckdb"}
	spoil := func(round int, patterns ...string) {
		t.Helper()
		for i, pattern := range patterns {
			for k, file := range a.mirrored(pattern) {
				s.spoil(file, k%2 == 0, spoilings[(round+i+k)%len(spoilings)].spoil)
			}
		}
	}
	rounds := 2 // commits and tables have several files each
	if long {
		rounds = len(spoilings)
	}
	for round := range rounds {
		spoil(round, copies...)
		right(fmt.Sprint("spoiled ", round), query...)
	}
	for round := range rounds {
		spoil(round, "known")
		right(fmt.Sprint("what is known of copies, spoiled ", round), query...)
	}
	spoil(1, append(copies, "known")...)
	if code, out := a.run("check", "--repair", "--store", store); code != 0 || strings.Contains(out, "ingested again") {
		t.Errorf("check --repair: exit status %d\n%s", code, out)
	}
	spoil(1, copies...)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { right("at once", query...) })
	}
	all.Wait()
	if after := s.sums("store"); after != before {
		t.Error("the bucket was written to")
	}
	for _, file := range a.mirrored("store/tables/*/*.parquet") {
		s.spoil(file, true, flipped)
	}
	a.does("compact", "--store", store, "--keep", "0")
	s.has(store, 0, experiments)
}

// If a commit or table gets other content under the same name, for example a restored one, machines
// with a copy of the old content see that.
func TestReplacedInTheBucket(t *testing.T) {
	s := serve(t)
	dir := t.TempDir()
	a := s.machine()
	record(t, dir, 0)
	a.does("ingest", "--store", store, "--cache", "", dir)
	names := []string{"query", "--store", store, "--format", "csv", "SELECT experiment FROM experiments"}
	if out := a.does(names...); !strings.Contains(out, "job-000.er") {
		t.Fatal(out)
	}
	file := s.stored("store/night=7/profiles/commits")[0]
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := storedir.Decode(strings.TrimSuffix(filepath.Base(file), ".json"), content)
	if err != nil {
		t.Fatal(err)
	}
	c.Experiments[0].Experiment = "job-999.er" // of the same length
	other, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now()
	put := func(content []byte) {
		t.Helper()
		if err := os.WriteFile(file, content, 0o666); err != nil {
			t.Fatal(err)
		}
		later = later.Add(2 * time.Second) // server times have whole seconds
		if err := os.Chtimes(file, later, later); err != nil {
			t.Fatal(err)
		}
	}
	put(other)
	if out := a.does(names...); !strings.Contains(out, "job-999.er") {
		t.Errorf("replaced: %s", out)
	}
	put(flipped(other))
	if code, out := a.run("check", "--store", store); code != 4 || !strings.Contains(out, "not as it was written") {
		t.Errorf("damaged: exit status %d\n%s", code, out)
	}
	put(content)
	if out := a.does(names...); !strings.Contains(out, "job-000.er") {
		t.Errorf("restored: %s", out)
	}
	table := s.stored("store/night=7/profiles/tables/heap_samples")[0]
	s.spoil(table, false, flipped)
	later = later.Add(2 * time.Second)
	if err := os.Chtimes(table, later, later); err != nil {
		t.Fatal(err)
	}
	if code, out := a.run("check", "--store", store); code != 4 || !strings.Contains(out, "heap_samples") {
		t.Errorf("a table is damaged there and whole here: exit status %d\n%s", code, out)
	}
}

// If the server's list lacks a commit, none of the commit's files are removed, and machines that
// know the commit report an error.
func TestShortList(t *testing.T) {
	s := serve(t)
	dir := t.TempDir()
	a := s.machine()
	const experiments = 3
	for n := range experiments {
		record(t, filepath.Join(dir, fmt.Sprint(n)), n)
		a.does("ingest", "--store", store, "--cache", "", filepath.Join(dir, fmt.Sprint(n)))
	}
	a.does("query", "--store", store, sums)
	time.Sleep(1100 * time.Millisecond) // server times have whole seconds
	before := s.stored("store/night=7/profiles/tables")
	s.mu.Lock()
	s.lie = edited(commitLists, func(content []byte) []byte {
		from := strings.Index(string(content), "<Contents>")
		end := strings.Index(string(content), "</Contents>") + len("</Contents>")
		if from < 0 {
			return content
		}
		return append(content[:from:from], content[end:]...)
	})
	s.mu.Unlock()
	if code, out := a.run("query", "--store", store, sums); code == 0 || !strings.Contains(out, "the server's list of commits lacks") {
		t.Errorf("exit status %d\n%s", code, out)
	}
	fresh := s.machine("STACKMILL_S3_ORPHANS=1ms")
	fresh.cache = filepath.Join(t.TempDir(), "fresh")
	_, out := fresh.run("compact", "--store", store, "--keep", "0")
	s.mu.Lock()
	s.lie = nil
	s.mu.Unlock()
	after := s.stored("store/night=7/profiles/tables") // it may contain a file of an attempt that gave up
	for _, file := range before {
		if !slices.Contains(after, file) {
			t.Errorf("%s is gone\n%s", file, out)
		}
	}
	s.has(store, 0, experiments)
}

// If the server's clock is wrong, nothing is removed.
func TestClockOfAnotherTime(t *testing.T) {
	s := serve(t)
	dir := t.TempDir()
	a := s.machine()
	record(t, dir, 0)
	a.does("ingest", "--store", store, "--cache", "", dir)
	orphan := filepath.Join(s.root, "store/night=7/profiles/tables/samples/b0123456789abcdef.parquet")
	if err := os.MkdirAll(filepath.Dir(orphan), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(orphan, []byte("an attempt of another machine"), 0o666); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.lie = says(func(r *http.Request) bool {
		return r.Method == http.MethodHead && strings.Contains(r.URL.Path, "/clock-")
	}, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Last-Modified", "Fri, 01 Jan 2100 00:00:00 GMT")
		w.WriteHeader(http.StatusOK)
	})
	s.mu.Unlock()
	code, out := a.run("compact", "--store", store)
	if _, err := os.Stat(orphan); code == 0 || err != nil || !strings.Contains(out, "server's clock") {
		t.Errorf("exit status %d, %v\n%s", code, err, out)
	}
}
