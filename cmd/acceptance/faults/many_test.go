package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"stackmill/internal/corpus"
	"stackmill/queries"
	"stackmill/schema"
	"stackmill/schema/storedir"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// There are several nights of small recordings, so many that several share a batch.
const (
	nights    = 3
	nightJobs = 16
)

// job returns the name of a small recording.
func job(n int) string { return fmt.Sprintf("night-%d/job-%02d.er", n/nightJobs, n) }

// value returns the sum of the bytes that a small recording allocates, different for each.
func value(n int) int64 { return 2*int64(1000+n) + 1 }

// manySmall makes the small recordings, in a folder for each night.
var manySmall = sync.OnceValues(func() (dir string, err error) {
	dir = filepath.Join(scratch, "many")
	for n := range nights * nightJobs {
		if err := small(dir, n); err != nil {
			return "", err
		}
	}
	return dir, nil
})

// small makes one of the small recordings in a folder.
func small(dir string, n int) error {
	path := filepath.Join(dir, job(n))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	e := gprofngtest.New(path)
	e.Declare(schema.Heap, "", gprofngtest.Layouts[schema.Heap][0])
	for i, f := range []string{"main", "work"} {
		e.Function(0, uint64(0x10000+i*0x100), 0x100, f)
	}
	e.Segment(0, foundLater, 0x1000, 0x1000, 5, "/bin/recur")
	work, events := e.Frame(0x10104, foundLater+factAt+4, 0x10004), e.Events(schema.Heap)
	for i, size := range []int64{int64(1000 + n), int64(1000 + n), 1} {
		events.Put(0, &gprofngtest.Layouts[schema.Heap][0], gprofngtest.Packet{Thread: 7, CPU: 1, Time: int64(i+1) * 1e6, Stack: work, Values: []int64{0, size, int64(0x7000 + 0x1000*i), 0}})
	}
	return e.Close()
}

// A function on the stacks of the small recordings. Its load object is missing at the recorded
// path. The constants say where the text is mapped, and the function's offset and size in the text.
const (
	foundLater = 0x400000
	factAt     = 0x129
	factName   = "fact"
)

// symbols makes a folder with the load object, for --symfs.
var symbols = sync.OnceValues(func() (dir string, err error) {
	dir = filepath.Join(scratch, "symbols")
	recorded, err := corpus.Dir()
	if err != nil {
		return "", err
	}
	found, err := filepath.Glob(filepath.Join(recorded, "exp/recur.er/archives/recur_*"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("%d archived files: %w", len(found), err)
	}
	content, err := os.ReadFile(found[0])
	return dir, errors.Join(err, os.MkdirAll(filepath.Join(dir, "bin"), 0o777), os.WriteFile(filepath.Join(dir, "bin/recur"), content, 0o777))
})

// life is a store of the small recordings, which verbs change.
type life struct {
	*bench
	dir     string // folder of the recordings
	symbols string // folder with their load object
	plan    string // file of a plan of some or all recordings
	store   string
}

func newLife(t *testing.T) *life {
	t.Helper()
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := manySmall()
	if err != nil {
		t.Fatal(err)
	}
	symfs, err := symbols()
	if err != nil {
		t.Fatal(err)
	}
	return &life{bench: &bench{T: t, binary: binary, cache: filepath.Join(scratch, "cache")}, dir: dir, symbols: symfs, plan: filepath.Join(t.TempDir(), "a.plan"), store: filepath.Join(t.TempDir(), "store")}
}

// verb returns a command on the store. In words, it replaces DIR by the recordings' folder,
// SYMBOLS by the folder of their load object, and PLAN by the file of a plan, which has these paths.
func (l *life) verb(words ...string) []string {
	command := []string{l.binary, words[0], "--store", l.store}
	switch words[0] {
	case "ingest":
		command = append(command, "--cache", l.cache, "--no-system-debug", "--debug-dir", scratch, "--label-from", "night-(?P<night>[0-9]+)")
		if !slices.Contains(words, "--plan") {
			command = append(command, "--recursive")
		}
	case "resymbolize":
		command = append(command, "--cache", l.cache, "--no-system-debug", "--debug-dir", scratch)
	}
	folders := strings.NewReplacer("DIR", l.dir, "SYMBOLS", l.symbols, "PLAN", l.plan)
	for _, word := range words[1:] {
		command = append(command, folders.Replace(word))
	}
	return command
}

// does runs a command that must succeed.
func (l *life) does(command []string) {
	l.Helper()
	if code, out := l.run(command...); code != 0 {
		l.Fatalf("%q: exit status %d\n%s", command[1:], code, out)
	}
}

// state is what readers see of a store: the status, labels and sums of each recording.
type state map[string]string

// truth returns the state of a store. There is a text for each night, which describes its
// recordings; for "", they are not in the store.
func truth(texts ...string) state {
	s := state{}
	for n := range nights * nightJobs {
		if night := n / nightJobs; night < len(texts) && texts[night] != "" {
			s[job(n)] = fmt.Sprintf(texts[night], night, value(n))
		}
	}
	return s
}

// Texts for truth. Recordings are complete, with or without the tests' label, and with or without
// the function that is found later; or they are summaries.
const (
	plain   = "complete map[night:%d] 3 %d"
	labeled = "complete map[kept:yes night:%d] 3 %d"
	named   = plain + known
	both    = labeled + known
	summed  = "summary map[night:%d] 0 %d"

	known = ", " + factName
)

// seen returns the state of a store. It is an error if an experiment is there twice, or its views
// disagree.
func seen(ctx context.Context, store string) (s state, err error) {
	db, err := queries.Open(ctx, store)
	if errors.Is(err, storedir.ErrNoStore) {
		return state{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return stateOf(ctx, db)
}

// stateQuery selects the state of each experiment. For a summary, it uses the sums of the function
// on its stacks.
const stateQuery = `SELECT experiment_id, rows, samples, sums, total, named FROM
(SELECT experiment_id, count(*) AS rows FROM experiments GROUP BY ALL)
LEFT JOIN (SELECT experiment_id, count(*) AS samples FROM heap_samples GROUP BY ALL) USING (experiment_id)
LEFT JOIN (SELECT experiment_id, sum(inclusive)::BIGINT AS sums FROM function_rollup WHERE metric = 'heapallocbytes' AND function = 'work' AND in_user GROUP BY ALL) USING (experiment_id)
LEFT JOIN (SELECT experiment_id, sum(exclusive)::BIGINT AS total FROM function_metrics WHERE metric = 'heapallocbytes' AND function = 'work' AND mode = 'user' GROUP BY ALL) USING (experiment_id)
LEFT JOIN (SELECT experiment_id, sum(attributed)::BIGINT AS named FROM callers_callees WHERE metric = 'heapallocbytes' AND function = '` + factName + `' AND other = 'work' AND relation = 'callee' AND mode = 'user' GROUP BY ALL) USING (experiment_id)`

func stateOf(ctx context.Context, db *queries.DB) (state, error) {
	rows, err := db.Records(ctx, stateQuery)
	if err != nil {
		return nil, err
	}
	values := map[string][]int64{}
	for _, r := range rows {
		id := r.Text("experiment_id")
		if r.Number("rows") != 1 || values[id] != nil {
			return nil, fmt.Errorf("%s is there twice", id)
		}
		values[id] = []int64{r.Number("samples"), r.Number("sums"), r.Number("total"), r.Number("named")}
	}
	s := state{}
	for _, e := range db.Experiments() {
		night, name := filepath.Split(e.Path)
		key := filepath.Join(filepath.Base(night), name)
		v := values[e.ExperimentID]
		if v == nil || s[key] != "" {
			return nil, fmt.Errorf("%s: rows %v, and %q before", key, v, s[key])
		}
		if e.Status != storedir.Summary && v[1] != v[2] || v[3] != 0 && v[3] != v[1] {
			return nil, fmt.Errorf("%s: sums %d, %d and %d", key, v[1], v[2], v[3])
		}
		s[key] = fmt.Sprintf("%s %v %d %d", e.Status, e.Labels, v[0], v[1])
		if v[3] > 0 {
			s[key] += known
		}
	}
	if len(s) != len(values) {
		return nil, fmt.Errorf("%d experiments, rows of %d", len(s), len(values))
	}
	return s, nil
}

// expect checks a store after a fault: it must be intact, and in a right state.
func (l *life) expect(what string, right func(state) bool) {
	l.Helper()
	compared.Add(1)
	got, err := seen(l.Context(), l.store)
	switch {
	case err != nil:
		different.Add(1)
		l.Errorf("%s: %v", what, err)
		return
	case !right(got):
		different.Add(1)
		l.Errorf("%s: it has %v", what, got)
	}
	if len(got) > 0 {
		l.check(what, l.store)
	}
}

// is returns a function that reports whether a state is equal to want.
func is(want state) func(state) bool {
	return func(got state) bool { return maps.Equal(want, got) }
}

// begin copies the store `from` for the test.
func (l *life) begin(from string) {
	l.Helper()
	l.store = filepath.Join(l.TempDir(), "store")
	if _, err := os.Stat(from); err != nil {
		return // it has none
	}
	if out, err := exec.Command("cp", "-a", from, l.store).CombinedOutput(); err != nil {
		l.Fatalf("%v: %s", err, strings.TrimSpace(string(out)))
	}
}
