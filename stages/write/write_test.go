package write

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"stackmill/schema"
	"stackmill/schema/storedir"
)

// stage writes n rows of metrics into a new batch.
func stage(t *testing.T, store string, n int) *Batch {
	t.Helper()
	b, err := Begin(store)
	if err != nil {
		t.Fatal(err)
	}
	rows := schema.NewRows(schema.Metrics, "a", b.Write)
	for i := range n {
		rows.Append(fmt.Sprint("metric", i), "Title", "count", "heap", false, false)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	return b
}

// commitOf is the commit of one experiment.
func commitOf(id string, generation int) storedir.Commit {
	return storedir.Commit{Experiments: []storedir.Entry{{ExperimentID: id, Generation: generation, Experiment: id + ".er", Status: "complete"}}}
}

func TestCommit(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	const rows = schema.BatchRows + 5
	if err := stage(t, store, rows).Commit("a", commitOf("a", 1)); err != nil {
		t.Fatal(err)
	}
	commits, err := storedir.Commits(store)
	if err != nil || len(commits) != 1 {
		t.Fatal(err, commits)
	}
	c := commits[0]
	if c.Batch != "a" || c.StoreVersion != schema.StoreVersion || len(c.Files) != 1 || c.Files[0].Rows != rows {
		t.Errorf("commit %+v", c)
	}
	data, err := os.ReadFile(filepath.Join(store, c.Files[0].Path))
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("%016x", xxhash.Sum64(data)); sum != c.Files[0].Checksum || int64(len(data)) != c.Files[0].Bytes {
		t.Errorf("checksum %s of %d bytes, the commit says %s of %d", sum, len(data), c.Files[0].Checksum, c.Files[0].Bytes)
	}
	pf, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer pf.Close()
	if v := pf.MetaData().KeyValueMetadata().FindValue(storedir.VersionKey); v == nil || *v != schema.StoreVersion {
		t.Error("the footer has no store version")
	}
	r, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(names(schema.Metrics.Stored()), names(s)); diff != "" {
		t.Error(diff)
	}
	if left, err := os.ReadDir(filepath.Join(store, storedir.StagingDir)); err != nil || len(left) != 0 {
		t.Errorf("left in staging: %v, %v", left, err)
	}
}

func names(s *arrow.Schema) (out []string) {
	for _, f := range s.Fields() {
		out = append(out, fmt.Sprintf("%s %s null=%v", f.Name, f.Type, f.Nullable))
	}
	return out
}

// Until its commit a batch is invisible; afterwards it is complete.
func TestNothingBeforeTheCommit(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	b := stage(t, store, 3)
	if commits, err := storedir.Commits(store); err != nil || len(commits) != 0 {
		t.Errorf("commits %v, %v", commits, err)
	}
	b.Abort()
	if left, err := os.ReadDir(filepath.Join(store, storedir.StagingDir)); err != nil || len(left) != 0 {
		t.Errorf("left in staging: %v, %v", left, err)
	}
}

// filesOf returns the names of the files of a store's table of metrics.
func filesOf(t *testing.T, store string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(store, storedir.TablesDir, schema.Metrics.Name))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

// verify compares a batch's only file with its commit.
func verify(t *testing.T, store, batch string, rows int64) storedir.Commit {
	t.Helper()
	c, err := storedir.ReadCommit(store, batch)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(store, c.Files[0].Path))
	if err != nil || fmt.Sprintf("%016x", xxhash.Sum64(data)) != c.Files[0].Checksum {
		t.Error("the file is not what the commit says", err)
	}
	if c.Files[0].Rows != rows {
		t.Errorf("%d rows, want %d", c.Files[0].Rows, rows)
	}
	return c
}

func commitFile(store, batch string) string {
	return filepath.Join(store, storedir.CommitsDir, batch+".json")
}

// If two processes write the same experiment at once, with different rows, one wins completely,
// whichever began first, and leaves nothing of the other.
func TestTwoWritersOfOneExperiment(t *testing.T) {
	for _, test := range []struct{ first, rows int }{{0, 3}, {1, 4}} {
		store := filepath.Join(t.TempDir(), "store")
		writers := []*Batch{stage(t, store, 3), stage(t, store, 4)}
		if err := writers[test.first].Commit("a", storedir.Commit{}); err != nil {
			t.Fatal(err)
		}
		if err := writers[1-test.first].Commit("a", storedir.Commit{}); !errors.Is(err, storedir.ErrExists) {
			t.Errorf("the second: %v, want %v", err, storedir.ErrExists)
		}
		c := verify(t, store, "a", int64(test.rows))
		if got := filesOf(t, store); len(got) != 1 || got[0] != filepath.Base(c.Files[0].Path) {
			t.Errorf("files %v, the commit names %s", got, c.Files[0].Path)
		}
		if left, err := os.ReadDir(filepath.Join(store, storedir.StagingDir)); err != nil || len(left) != 0 {
			t.Errorf("left in staging: %v, %v", left, err)
		}
	}
}

// Of many concurrent attempts, exactly one ends up in the store.
func TestManyWritersOfOneExperiment(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	const attempts = 12
	var g errgroup.Group
	var won atomic.Int64
	for n := range attempts {
		g.Go(func() error {
			storedir.Clean(store)
			b, err := Begin(store)
			if err != nil {
				return err
			}
			storedir.Clean(store)
			rows := schema.NewRows(schema.Metrics, "a", b.Write)
			for i := range n + 1 {
				rows.Append(fmt.Sprint("metric", i), "Title", "count", "heap", false, false)
			}
			if err := rows.Close(); err != nil {
				return err
			}
			err = b.Commit("a", storedir.Commit{})
			if err == nil {
				won.Store(int64(n + 1))
				return nil
			}
			if errors.Is(err, storedir.ErrExists) {
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	verify(t, store, "a", won.Load())
	if got := filesOf(t, store); len(got) != 1 {
		t.Errorf("files %v", got)
	}
}

// A batch that is written again replaces the first; readers of that have time to
// finish.
func TestReplace(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	now := time.Now()
	put := func(rows int, at time.Time, want string) {
		t.Helper()
		look, err := storedir.ReadContents(store)
		if err != nil && !errors.Is(err, storedir.ErrNoStore) {
			t.Fatal(err)
		}
		c := commitOf("a", look.NextGeneration("a"))
		name := look.NewBatchName(c.Experiments)
		if name != want {
			t.Fatalf("the next batch is %s, want %s", name, want)
		}
		c.Ingested = at
		if err := stage(t, store, rows).Commit(name, c); err != nil {
			t.Fatal(err)
		}
	}
	put(1, now.Add(-5*time.Hour), "a")
	put(2, now.Add(-2*time.Hour), "a.2")
	put(3, now, "a.3")
	look, err := storedir.ReadContents(store)
	if err != nil || len(look.Batches) != 1 || look.Batches[0].Batch != "a.3" || len(look.Replaced) != 2 || len(look.Damaged) != 0 {
		t.Fatalf("%+v, %v", look, err)
	}
	verify(t, store, "a", 1)
	look.Sweep(storedir.Keep)
	if diff := cmp.Diff([]string{"a.2.parquet", "a.3.parquet"}, filesOf(t, store)); diff != "" {
		t.Error(diff)
	}
	verify(t, store, "a.2", 2) // replaced just now
	// The newest generation is damaged: no older one is read instead, and the next one replaces it.
	if err := os.WriteFile(commitFile(store, "a.3"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if look, err = storedir.ReadContents(store); err != nil || len(look.Batches) != 0 || len(look.Damaged) != 1 {
		t.Fatalf("%+v, %v", look, err)
	}
	put(4, now, "a.4")
	if look, err = storedir.ReadContents(store); err != nil || len(look.Batches) != 1 || len(look.Damaged) != 0 || look.Batches[0].Batch != "a.4" {
		t.Fatalf("%+v, %v", look, err)
	}
}

// A recording replaces its copy that has lost data, in whatever batch the copy is.
func TestReplaceOther(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	instead := commitOf("b", 1)
	instead.Experiments[0].Instead = []string{"a"}
	for _, c := range []storedir.Commit{commitOf("a", 1), instead, commitOf("a", 2)} {
		if err := stage(t, store, 1).Commit(storedir.BatchName(c.Experiments), c); err != nil {
			t.Fatal(err)
		}
	}
	look, err := storedir.ReadContents(store)
	if err != nil || len(look.Batches) != 1 || look.Batches[0].Batch != "b" {
		t.Fatalf("%+v, %v", look, err)
	}
	if l := look.Latest("a"); !l.Replaced {
		t.Errorf("%+v", l)
	}
}

// Clean removes the files of killed processes, and none of running ones.
func TestClean(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	living := stage(t, store, 1)
	dead := stage(t, store, 1)
	dead.Abandon() // as the system does when a process ends
	storedir.Clean(store)
	if _, err := os.Stat(dead.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the dead batch is still there: %v", err)
	}
	if err := living.Commit("a", storedir.Commit{}); err != nil {
		t.Errorf("the living batch was disturbed: %v", err)
	}
}

// Files that an attempt has moved into the store are removed if it was killed before its commit,
// and stay if it was killed after.
func TestCleanPublished(t *testing.T) {
	for _, committed := range []bool{false, true} {
		store := filepath.Join(t.TempDir(), "store")
		b := stage(t, store, 1)
		attempt, err := storedir.NewAttempt(store, "a")
		if err != nil {
			t.Fatal(err)
		}
		b.attempt = attempt
		if err := b.complete(); err != nil {
			t.Fatal(err)
		}
		draft, err := b.flush(storedir.Commit{Batch: "a", StoreVersion: schema.StoreVersion})
		if err == nil && committed {
			_, err = draft.Commit()
		}
		b.Abandon() // killed
		attempt.Abandon()
		if err != nil {
			t.Fatal(err)
		}
		storedir.Clean(store)
		if n := len(filesOf(t, store)); (n == 1) != committed {
			t.Errorf("committed %v: %d files", committed, n)
		}
		if left, err := os.ReadDir(filepath.Join(store, storedir.StagingDir)); err != nil || len(left) != 0 {
			t.Errorf("left in staging: %v, %v", left, err)
		}
	}
}

// Whatever is changed in a commit, its batch counts as damaged.
func TestDamagedCommit(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	if _, err := storedir.ReadContents(store); !errors.Is(err, storedir.ErrNoStore) {
		t.Errorf("a folder that is no store: %v", err)
	}
	for _, name := range []string{"a", "b"} {
		if err := stage(t, store, 1).Commit(name, commitOf(name, 1)); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(commitFile(store, "b"))
	if err != nil {
		t.Fatal(err)
	}
	expect := func(what string, content []byte) {
		t.Helper()
		if err := os.WriteFile(commitFile(store, "b"), content, 0o644); err != nil {
			t.Fatal(err)
		}
		look, err := storedir.ReadContents(store)
		if err != nil || len(look.Batches) != 1 || look.Batches[0].Batch != "a" || len(look.Damaged) != 1 || look.Damaged[0].Batch != "b" || !errors.Is(look.Damaged[0].Err, storedir.ErrDamaged) {
			t.Errorf("%s: %+v, %v", what, look, err)
		}
	}
	for i := range whole {
		changed := bytes.Clone(whole)
		changed[i] ^= 1
		for _, content := range [][]byte{changed, whole[:i]} {
			if _, err := storedir.Decode("b", content); !errors.Is(err, storedir.ErrDamaged) {
				t.Errorf("changed or cut at %d: %v", i, err)
			}
		}
	}
	expect("empty", nil)
	expect("cut", whole[:len(whole)/2])
	expect("longer", append(bytes.Clone(whole), ' '))
	other, err := os.ReadFile(commitFile(store, "a"))
	if err != nil {
		t.Fatal(err)
	}
	expect("another's", other)
}
