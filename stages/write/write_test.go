package write

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
)

// stage writes n rows of metrics into a new batch.
func stage(t *testing.T, store, name string, n int) *Batch {
	t.Helper()
	b, err := Begin(store, name)
	if err != nil {
		t.Fatal(err)
	}
	rows := schema.NewRows(schema.Metrics, b.Write)
	for i := range n {
		rows.Append(name, fmt.Sprint("metric", i), "Title", "count", "heap", false)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCommit(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	const rows = schema.BatchRows + 5
	if err := stage(t, store, "a", rows).Commit(Commit{ExperimentID: "a", Experiment: "a.er"}); err != nil {
		t.Fatal(err)
	}
	commits, err := Commits(store)
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
	if v := pf.MetaData().KeyValueMetadata().FindValue(VersionKey); v == nil || *v != schema.StoreVersion {
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
	if left, err := os.ReadDir(filepath.Join(store, stagingDir)); err != nil || len(left) != 0 {
		t.Errorf("left in staging: %v, %v", left, err)
	}
}

func names(s *arrow.Schema) (out []string) {
	for _, f := range s.Fields() {
		out = append(out, fmt.Sprintf("%s %s null=%v", f.Name, f.Type, f.Nullable))
	}
	return out
}

// Until its commit a batch is invisible; afterwards it cannot be half there.
func TestNothingBeforeTheCommit(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	b := stage(t, store, "a", 3)
	if commits, err := Commits(store); err != nil || len(commits) != 0 {
		t.Errorf("commits %v, %v", commits, err)
	}
	b.Abort()
	if left, err := os.ReadDir(filepath.Join(store, stagingDir)); err != nil || len(left) != 0 {
		t.Errorf("left in staging: %v, %v", left, err)
	}
}

func TestTwoWritersOfOneExperiment(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	first, second := stage(t, store, "a", 3), stage(t, store, "a", 3)
	if err := errors.Join(first.Commit(Commit{}), second.Commit(Commit{})); err != nil {
		t.Fatal(err)
	}
	c, err := ReadCommit(store, "a")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(store, c.Files[0].Path))
	if err != nil || fmt.Sprintf("%016x", xxhash.Sum64(data)) != c.Files[0].Checksum {
		t.Error("the file is not what the commit says", err)
	}
}

// Clean removes what a killed process left, and nothing of a living one.
func TestClean(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	living := stage(t, store, "living", 1)
	dead := stage(t, store, "dead", 1)
	if err := dead.lock.Close(); err != nil { // as the system does when a process ends
		t.Fatal(err)
	}
	if err := Clean(store); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the dead batch is still there: %v", err)
	}
	if err := living.Commit(Commit{}); err != nil {
		t.Errorf("the living batch was disturbed: %v", err)
	}
}

func TestUnreadableCommit(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	if _, err := Commits(store); !errors.Is(err, ErrNoStore) {
		t.Errorf("a folder that is no store: %v", err)
	}
	if err := stage(t, store, "a", 1).Commit(Commit{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(store, commitsDir, "b.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Commits(store); err == nil {
		t.Error("a cut commit file was read")
	}
}
