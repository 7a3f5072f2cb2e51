package s3

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/schema"
)

const store = "s3://store/night=7/profiles"

// A store on S3 behaves as one on a file system, on every machine, and whatever another machine has
// done to it.
func TestStore(t *testing.T) {
	s := serve(t)
	dir := t.TempDir()
	for n := range 6 {
		record(t, filepath.Join(dir, fmt.Sprint(n/3)), n)
	}
	a, b := s.machine(), s.machine()
	if code, out := b.run("report", "functions", "--store", store); code != 1 || !strings.Contains(out, "no store at "+store) {
		t.Errorf("of nothing: %d\n%s", code, out)
	}
	a.does("ingest", "--store", store, "--cache", "", filepath.Join(dir, "0"))
	s.has(store, 0, 3)
	b.does("ingest", "--store", store, "--cache", "", filepath.Join(dir, "1"))
	if out := a.does("ingest", "--store", store, "--cache", "", "--recursive", dir); !strings.Contains(out, "0 ingested, 6 already there") {
		t.Errorf("again:\n%s", out)
	}
	s.has(store, 0, 6)
	local := filepath.Join(t.TempDir(), "store")
	a.does("ingest", "--store", local, "--cache", "", "--recursive", dir)
	report := []string{"report", "callers-callees", "--function", "work", "--experiment", "job-004.er", "--store"}
	if there, here := b.does(append(report, store)...), b.does(append(report, local)...); there != here {
		t.Errorf("on S3\n%shere\n%s", there, here)
	}
	b.does("label", "--store", store, "job-004.er", "kept=yes")
	if out := a.does("query", "--store", store, "--format", "csv", "SELECT experiment FROM labels WHERE label = 'kept' AND value = 'yes'"); !strings.Contains(out, "job-004.er") {
		t.Errorf("labeled: %s", out)
	}
	a.does("forget", "--store", store, "job-000.er")
	b.does("compact", "--store", store, "--keep", "0", "--purge")
	b.does("compact", "--store", store, "--keep", "0", "--purge")
	s.has(store, 1, 6)
	hashes := func(from func(*schema.Table) string) string {
		return a.does("query", "--store", store, "--unsafe", "--format", "csv", suite.RowHashes(from))
	}
	views := hashes(func(table *schema.Table) string { return table.Name })
	files := hashes(suite.OfFiles(filepath.Join(s.root, "store/night=7/profiles")))
	if views != files || strings.Count(views, "\n") < 20 {
		t.Errorf("by SQL\n%sof the files\n%s", views, files)
	}
	if n := len(s.stored("store/night=7/profiles/commits")); n > 3 {
		t.Errorf("%d commits are left of a compaction", n)
	}
}

// A machine's cache of a store is bounded; a query that does not fit is refused.
func TestCacheSize(t *testing.T) {
	s := serve(t)
	dir := t.TempDir()
	a := s.machine()
	for n := range 3 {
		record(t, filepath.Join(dir, fmt.Sprint(n)), n)
		a.does("ingest", "--store", store, "--cache", "", "--cache-size", "1K", filepath.Join(dir, fmt.Sprint(n)))
	}
	tables := filepath.Join(a.cache, "stackmill/stores/*/store/tables/*/*")
	kept := func() (bytes int) {
		files, _ := filepath.Glob(tables) // the pattern is right
		for _, file := range files {
			if info, err := os.Stat(file); err == nil {
				bytes += int(info.Size())
			}
		}
		return bytes
	}
	if n := kept(); n > 1<<10 { // a small table may stay
		t.Errorf("an ingest keeps %d bytes", n)
	}
	code, out := a.run("query", "--store", store, "--cache-size", "1K", sums)
	if code != 1 || !strings.Contains(out, "raise --cache-size, or choose experiments with --experiment") {
		t.Errorf("exit status %d\n%s", code, out)
	}
	total := 0
	for _, file := range s.stored("store/night=7/profiles/tables") {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		total += int(info.Size())
	}
	for _, name := range []string{"job-000.er", "job-001.er", "job-002.er"} {
		a.does("report", "functions", "--store", store, "--experiment", name, "--cache-size", fmt.Sprint(total/2))
		if n := kept(); n == 0 || n > total/2 {
			t.Errorf("%s: %d bytes are kept, of %d", name, n, total/2)
		}
	}
}

// If the answer to the upload of a commit is lost, or the commit is uploaded twice, the store has
// it once.
func TestCommitUnknown(t *testing.T) {
	for _, what := range []fault{lost, late, twice} {
		t.Run(faultNames[what], func(t *testing.T) {
			s := serve(t)
			dir := t.TempDir()
			record(t, dir, 0)
			a := s.machine()
			s.disturb(0, ofCommits(what, 1))
			if out := a.does("ingest", "--store", store, "--cache", "", dir); !strings.Contains(out, "1 ingested") {
				t.Errorf("%s", out)
			}
			s.has(store, 0, 1)
			if n := s.injected[what]; n != 1 {
				t.Errorf("%d faults", n)
			}
		})
	}
}

// check finds a file that is missing or damaged on the server, even if the cached copy is intact.
func TestDamage(t *testing.T) {
	s := serve(t)
	dir := t.TempDir()
	record(t, dir, 0)
	a, b := s.machine(), s.machine()
	a.does("ingest", "--store", store, "--cache", "", dir)
	file := s.stored("store/night=7/profiles/tables/heap_samples")[0]
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(file, content, 0o666); err != nil {
		t.Fatal(err)
	}
	if code, out := b.run("check", "--store", store); code != 4 || !strings.Contains(out, "heap_samples") {
		t.Errorf("damaged: exit status %d\n%s", code, out)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if code, out := a.run("check", "--store", store); code != 4 || !strings.Contains(out, "heap_samples") {
		t.Errorf("gone: exit status %d\n%s", code, out)
	}
}

// The first machine that needs a load object's tables makes them for all others. An unusable shared
// cache is refused.
func TestSharedCache(t *testing.T) {
	s := serve(t)
	dir, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	recording := filepath.Join(dir, "exp", "recur.er")
	var requests map[string]int
	count := func(r *http.Request) fault {
		if strings.HasPrefix(r.URL.Path, "/store/cache/") {
			requests[r.Method]++
		}
		return none
	}
	reports := map[string]bool{}
	ingest := func(store, cache string) {
		t.Helper()
		requests = map[string]int{}
		m := s.machine()
		m.does("ingest", "--store", store, "--cache", cache, recording)
		reports[m.does("report", "lines", "--store", store)] = true
	}
	s.disturb(0, count)
	ingest("s3://store/a", "s3://store/cache")
	if made := len(s.stored("store/cache")); made == 0 || requests["PUT"] != made {
		t.Errorf("%d tables were made, requests %v", made, requests)
	}
	ingest("s3://store/b", "s3://store/cache")
	if requests["PUT"] != 0 || requests["GET"] == 0 {
		t.Errorf("another machine: requests %v", requests)
	}
	ingest("s3://store/c", filepath.Join(t.TempDir(), "cache"))
	if len(reports) != 1 {
		t.Errorf("the reports differ: %v", reports)
	}
	s.disturb(0, func(r *http.Request) fault {
		if strings.HasPrefix(r.URL.Path, "/store/full/") && r.Method == http.MethodPut {
			return failed
		}
		return none
	})
	if out := s.machine("STACKMILL_S3_RETRY=1s").does("ingest", "--store", "s3://store/e", "--cache", "s3://store/full", recording); strings.Count(out, "the cache s3://store/full is not used any more: s3://store/full/") != 1 {
		t.Errorf("a cache that cannot be written is not told once:\n%s", out)
	}
	s.disturb(0, nil)
	if code, out := s.machine().run("ingest", "--store", "s3://store/d", "--cache", "s3://nowhere/cache", recording); code != 1 || !strings.Contains(out, "s3://nowhere/cache") {
		t.Errorf("no bucket: exit status %d\n%s", code, out)
	}
}

// A process that reads a store, or merges its batches, while another machine merges and removes
// them, continues with the new batches.
func TestReplacedMeanwhile(t *testing.T) {
	for _, verb := range [][]string{{"query", "--format", "csv", sums}, {"compact", "--keep", "0"}} {
		t.Run(verb[0], func(t *testing.T) {
			s := serve(t)
			dir := t.TempDir()
			a, b := s.machine(), s.machine()
			for n := range 3 {
				record(t, filepath.Join(dir, fmt.Sprint(n)), n)
				a.does("ingest", "--store", store, "--cache", "", filepath.Join(dir, fmt.Sprint(n)))
			}
			var once sync.Once
			s.before = func(r *http.Request) {
				if r.Host == b.host && strings.Contains(r.URL.Path, "/tables/") {
					once.Do(func() { a.does("compact", "--store", store, "--keep", "0") })
				}
			}
			out := b.does(append(verb, "--store", store)...)
			// On a busy machine the program first prints that it waits for an answer.
			if verb[0] == "query" && !strings.HasSuffix(strings.ReplaceAll(out, "\r", ""), truth(0, 3)) {
				t.Errorf("%s", out)
			}
			s.mu.Lock()
			s.before = nil
			s.mu.Unlock()
			s.has(store, 0, 3)
		})
	}
}
