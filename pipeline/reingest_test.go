package pipeline

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"stackmill/schema"
	"stackmill/schema/storedir"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// recordOf composes a recording with n samples in the object at a path; wall is its start.
func recordOf(t *testing.T, dir, object string, n int, wall int64) {
	t.Helper()
	e := gprofngtest.New(dir)
	e.Wall = wall
	e.Segment(0, 0x1000, 0x1000, 0, 5, object)
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

// damage appends garbage to the event file, so that data is lost. It returns a function that
// repairs it.
func damage(t *testing.T, dir string) (mend func()) {
	t.Helper()
	path := filepath.Join(dir, "profile")
	whole, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(bytes.Clone(whole), 0xff, 0xff, 0xff), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A recording that lost data is ingested again only when something changed that the loss may depend
// on; the store has it once.
func TestPartialIsTriedAgain(t *testing.T) {
	bothWays(t, partialIsTriedAgain)
}

func partialIsTriedAgain(t *testing.T) {
	root := t.TempDir()
	dir, object := filepath.Join(root, "a.er"), filepath.Join(root, "program")
	recordOf(t, dir, object, 10, 1_700_000_000)
	mend := damage(t, dir)
	o := Options{Store: filepath.Join(root, "store"), Jobs: 1, DebugDirs: []string{}, Program: "1"}
	expect := func(when, want string) {
		t.Helper()
		o.Contents = known(t, o.Store)
		results, err := Ingest(t.Context(), o, dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := results[0].Status; got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
		if n := batches(t, o.Store); n != 1 {
			t.Errorf("%s: %d batches", when, n)
		}
	}
	expect("first", Partial)
	expect("unchanged", Skipped)
	o.Program = "2"
	expect("another program", Partial)
	expect("that again", Skipped)
	if err := os.WriteFile(object, []byte("no ELF file"), 0o644); err != nil {
		t.Fatal(err)
	}
	expect("the load object is there", Partial)
	expect("still there", Skipped)
	if err := os.Chtimes(object, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	expect("it has changed", Partial)
	o.SymFS = t.TempDir()
	expect("files are elsewhere", Partial)
	expect("still elsewhere", Skipped)
	mend()
	expect("mended", Complete)
	expect("unchanged", Skipped)
	damage(t, dir)
	expect("the damaged copy comes back", Skipped)
}

// An experiment that superseded an unfinished copy still does so when it is ingested again.
func TestUnfinishedStaysReplaced(t *testing.T) {
	bothWays(t, unfinishedStaysReplaced)
}

func unfinishedStaysReplaced(t *testing.T) {
	root := t.TempDir()
	dir, store := filepath.Join(root, "a.er"), filepath.Join(root, "store")
	for i, program := range []string{"1", "1", "2"} {
		if i < 2 {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			recordOf(t, dir, "/program", 5+5*i, 1_700_000_000)
			damage(t, dir)
		}
		results, err := Ingest(t.Context(), Options{Store: store, Jobs: 1, DebugDirs: []string{}, Program: program, Contents: known(t, store)}, dir)
		if err != nil || len(results) != 1 || results[0].Status != Partial {
			t.Fatal(results, err)
		}
		if n := batches(t, store); n != 1 {
			t.Errorf("ingest %d: %d batches", i+1, n)
		}
	}
}

// Another recording at the path of one that lost data does not replace it.
func TestAnotherAtTheSamePath(t *testing.T) {
	bothWays(t, anotherAtTheSamePath)
}

func anotherAtTheSamePath(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "a.er")
	store := filepath.Join(root, "store")
	recordOf(t, dir, "/program", 10, 1_700_000_000)
	damage(t, dir)
	if diff := cmp.Diff([]string{Partial}, statuses(t, store, dir)); diff != "" {
		t.Fatal(diff)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	recordOf(t, dir, "/program", 10, 1_700_086_400)
	if diff := cmp.Diff([]string{Complete}, statuses(t, store, dir)); diff != "" {
		t.Fatal(diff)
	}
	if n := batches(t, store); n != 2 {
		t.Errorf("%d batches, want both nights'", n)
	}
}

// A later attempt that reads less of a recording does not replace an earlier one.
func TestNoWorseAttemptReplaces(t *testing.T) {
	bothWays(t, noWorseAttemptReplaces)
}

func noWorseAttemptReplaces(t *testing.T) {
	root := t.TempDir()
	dir, store := filepath.Join(root, "a.er"), filepath.Join(root, "store")
	recordOf(t, dir, "/program", 10, 1_700_000_000)
	damage(t, dir)
	if diff := cmp.Diff([]string{Partial}, statuses(t, store, dir)); diff != "" {
		t.Fatal(diff)
	}
	more := readOnly(t, store)
	more.Experiments[0].Samples++
	more.Experiments[0].State = ""
	put(t, store, more)
	if diff := cmp.Diff([]string{Skipped}, statuses(t, store, dir)); diff != "" {
		t.Error(diff)
	}
}

func readOnly(t *testing.T, store string) storedir.Commit {
	t.Helper()
	commits, err := storedir.Commits(store)
	if err != nil || len(commits) != 1 {
		t.Fatal(commits, err)
	}
	return commits[0]
}

func put(t *testing.T, store string, c storedir.Commit) {
	t.Helper()
	data, err := c.Encode()
	if err == nil {
		err = os.WriteFile(filepath.Join(store, "commits", c.Batch+".json"), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The next ingest replaces a damaged commit, also if check has marked its experiments.
func TestDamagedCommitIsIngestedAgain(t *testing.T) {
	bothWays(t, damagedCommitIsIngestedAgain)
}

func damagedCommitIsIngestedAgain(t *testing.T) {
	root := t.TempDir()
	dir, store := filepath.Join(root, "a.er"), filepath.Join(root, "store")
	record(t, dir, 10)
	statuses(t, store, dir)
	first := readOnly(t, store)
	for _, damage := range []func(batch string) error{
		func(batch string) error {
			return os.WriteFile(filepath.Join(store, "commits", batch+".json"), nil, 0o644)
		},
		func(batch string) error { _, err := storedir.MarkForReingest(store, batch, nil); return err },
	} {
		if err := damage(readOnly(t, store).Batch); err != nil {
			t.Fatal(err)
		}
		if n := batches(t, store); n != 0 {
			t.Errorf("%d batches of a damaged commit", n)
		}
		if diff := cmp.Diff([]string{Complete}, statuses(t, store, dir)); diff != "" {
			t.Error(diff)
		}
		if c := readOnly(t, store); c.Experiments[0].ExperimentID != first.Experiments[0].ExperimentID || c.Files[0].Checksum != first.Files[0].Checksum {
			t.Errorf("another batch: %+v", c)
		}
	}
}

// If several ingests run at once, each recording is in the store once, and one ingest reports
// storing it.
func TestIngestsAtOnce(t *testing.T) {
	shared(t, 1)
	root := t.TempDir()
	store := filepath.Join(root, "store")
	for _, name := range []string{"a.er", "b.er", "c.er"} {
		record(t, filepath.Join(root, "in", name), 10+len(name)+int(name[0]))
	}
	const runs = 6
	var g errgroup.Group
	all := make([][]Result, runs)
	for i := range runs {
		g.Go(func() (err error) {
			all[i], err = Ingest(t.Context(), Options{Store: store, Jobs: 2, DebugDirs: []string{}}, filepath.Join(root, "in"))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, results := range all {
		for _, r := range results {
			count[r.Status]++
			if r.Status == Skipped && r.Samples != 0 {
				t.Errorf("%d samples of what was there already", r.Samples)
			}
		}
	}
	if count[Complete] != 3 || count[Skipped] != 3*(runs-1) || batches(t, store) != 3 {
		t.Errorf("%v, %d batches", count, batches(t, store))
	}
	files, err := filepath.Glob(filepath.Join(store, "tables", "experiments", "*"))
	left, serr := os.ReadDir(filepath.Join(store, "staging"))
	if err := errors.Join(err, serr); err != nil || len(files) != 3 || len(left) != 0 {
		t.Errorf("files %v, left in staging %v, %v", files, left, err)
	}
}
