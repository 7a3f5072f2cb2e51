package iceberg

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/lake"
)

// folder is a data lake with one table.
type folder struct {
	t *testing.T
	*lake.Lake
}

func newFolder(t *testing.T) *folder {
	l, err := lake.Open(t.TempDir(), lake.Options{Location: "s3://bucket/lake", Keep: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &folder{t, l}
}

func (f *folder) dir() string { return filepath.Join(f.Folder, lake.Namespace, "t", "metadata") }

// update gives the table these columns and files, and returns its new metadata.
func (f *folder) update(columns []lake.Column, files ...lake.File) (Change, metadata) {
	f.t.Helper()
	c, err := Update(f.Lake, []lake.Table{{Name: "t", Doc: "one thing", Columns: columns, Files: files}})
	if err != nil {
		f.t.Fatal(err)
	}
	hint, err := os.ReadFile(filepath.Join(f.dir(), hintName))
	if err != nil {
		f.t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(f.dir(), "v"+string(hint)+metaSuffix))
	if err != nil {
		f.t.Fatal(err)
	}
	var m metadata
	if err := json.Unmarshal(text, &m); err != nil {
		f.t.Fatal(err)
	}
	return c, m
}

var (
	ab    = []lake.Column{{Name: "a", Type: "BIGINT", Doc: "A."}, {Name: "b", Type: "VARCHAR"}}
	one   = lake.File{Path: "s3://bucket/store/1.parquet", Rows: 10, Bytes: 100}
	two   = lake.File{Path: "s3://bucket/store/2.parquet", Rows: 20, Bytes: 200}
	holed = lake.File{Path: two.Path, Rows: 20, Bytes: 200, Deletes: &lake.File{Path: "s3://bucket/lake/d.parquet", Rows: 3, Bytes: 30}}
)

// A column keeps its number as long as it has its name and type, and no number is used twice.
func TestColumns(t *testing.T) {
	f := newFolder(t)
	_, m := f.update(ab, one)
	if diff := cmp.Diff([]columns{{"struct", 0, []column{{1, "a", false, "long", "A."}, {2, "b", false, "string", ""}}}}, m.Schemas); diff != "" {
		t.Error(diff)
	}
	changed := []lake.Column{{Name: "b", Type: "VARCHAR"}, {Name: "c", Type: "TIMESTAMP WITH TIME ZONE"}, {Name: "a", Type: "INTEGER"}}
	c, m := f.update(changed, one)
	if diff := cmp.Diff([]column{{2, "b", false, "string", ""}, {3, "c", false, "timestamptz", ""}, {4, "a", false, "int", ""}}, m.columns().Fields); diff != "" {
		t.Error(diff)
	}
	if c.Tables != 0 || len(m.Schemas) != 2 || m.CurrentSchemaID != 1 || m.LastColumnID != 4 || len(m.Snapshots) != 1 || m.Snapshots[0].SchemaID != 0 {
		t.Errorf("%+v: %+v", c, m)
	}
	if want := `[{"field-id":2,"names":["b"]},{"field-id":3,"names":["c"]},{"field-id":4,"names":["a"]}]`; m.Properties["schema.name-mapping.default"] != want {
		t.Errorf("names %s", m.Properties["schema.name-mapping.default"])
	}
	if _, slow := m.Properties["read.parquet.vectorization.enabled"]; slow || m.Properties["gc.enabled"] != "false" || m.Location != "s3://bucket/lake/stackmill/t" {
		t.Errorf("%+v", m)
	}
}

// A snapshot says what is in the table and what has changed. An update that changes nothing makes no snapshot.
func TestSnapshots(t *testing.T) {
	f := newFolder(t)
	for _, step := range []struct {
		files []lake.File
		want  map[string]string // values in the snapshot's summary
	}{
		{nil, map[string]string{"operation": "append", "total-records": "0", "total-data-files": "0", "total-position-deletes": "0"}},
		{[]lake.File{one}, map[string]string{"operation": "append", "added-data-files": "1", "added-records": "10", "total-records": "10", "total-files-size": "100"}},
		{[]lake.File{one, two}, map[string]string{"operation": "append", "added-data-files": "1", "total-records": "30", "total-data-files": "2"}},
		{[]lake.File{one, holed}, map[string]string{"operation": "overwrite", "added-delete-files": "1", "added-data-files": "", "total-records": "30", "total-position-deletes": "3", "total-delete-files": "1"}},
		{[]lake.File{one, two}, map[string]string{"operation": "overwrite", "removed-delete-files": "1", "total-position-deletes": "0"}},
		{[]lake.File{two}, map[string]string{"operation": "overwrite", "deleted-data-files": "1", "deleted-records": "10", "total-records": "20"}},
	} {
		_, m := f.update(ab, step.files...)
		last := m.Snapshots[len(m.Snapshots)-1]
		for name, want := range step.want {
			if got := last.Summary[name]; got != want {
				t.Errorf("%v: %s is %q, want %q", step.files, name, got, want)
			}
		}
		if last.ID != m.CurrentSnapshotID || m.Refs["main"].SnapshotID != last.ID || last.Sequence != m.LastSequenceNumber || last.Sequence != int64(len(m.Snapshots)) {
			t.Errorf("%+v is not the current snapshot of %+v", last, m)
		}
		if c, again := f.update(ab, step.files...); c != (Change{}) || again.LastUpdatedMS != m.LastUpdatedMS {
			t.Errorf("nothing has changed: %+v", c)
		}
	}
}

// A file keeps the sequence number of the snapshot that added it. If rows of the file are deleted later, the
// deletions have a higher number.
func TestSequence(t *testing.T) {
	f := newFolder(t)
	f.update(ab, one)
	_, m := f.update(ab, one, holed)
	entries, err := (&writer{dir: f.dir()}).readEntries(m.CurrentSnapshotID)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for path, e := range entries {
		got[filepath.Base(path)] = *e.SequenceNumber
	}
	if diff := cmp.Diff(map[string]int64{"1.parquet": 1, "2.parquet": 2, "d.parquet": 2}, got); diff != "" {
		t.Error(diff)
	}
	d := entries[holed.Deletes.Path].DataFile
	if d.Content != deletedPositions || string((*d.LowerBounds)[0].Value) != two.Path || string((*d.UpperBounds)[0].Value) != two.Path {
		t.Errorf("%+v", d)
	}
}

// Files that a killed program has left do not disturb the next one.
func TestInterrupted(t *testing.T) {
	f := newFolder(t)
	f.update(ab, one)
	_, m := f.update(ab, two)
	for name, content := range map[string]string{hintName: "1", "1234-list.avro": "x", "v3.metadata.json.tmp": "{"} {
		if err := os.WriteFile(filepath.Join(f.dir(), name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c, again := f.update(ab, two)
	if diff := cmp.Diff(m, again); diff != "" || c != (Change{}) {
		t.Errorf("%+v: %s", c, diff)
	}
	if left := f.names(); slices.ContainsFunc(left, func(name string) bool { return strings.HasPrefix(name, "1234") || strings.HasSuffix(name, ".tmp") }) {
		t.Errorf("left: %q", left)
	}
}

// The next update undoes commits of other engines.
func TestForeignCommit(t *testing.T) {
	f := newFolder(t)
	_, m := f.update(ab, one, two)
	m.CurrentSnapshotID++
	m.LastSequenceNumber++
	m.Snapshots = append(m.Snapshots, snapshot{ID: m.CurrentSnapshotID, Sequence: m.LastSequenceNumber, TimestampMS: m.LastUpdatedMS, ManifestList: "s3://bucket/lake/stackmill/t/metadata/snap-1.avro"})
	text, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.dir(), "v2.metadata.json"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	_, m = f.update(ab, one, two)
	entries, err := (&writer{dir: f.dir()}).readEntries(m.CurrentSnapshotID)
	if err != nil || len(entries) != 2 || len(m.Snapshots) != 3 || m.LastSequenceNumber != 3 {
		t.Errorf("%v, %v: %+v", err, entries, m)
	}
}

// Snapshots and their files are deleted when the time to keep them is over.
func TestExpire(t *testing.T) {
	f := newFolder(t)
	f.update(ab, one)
	_, m := f.update(ab, two)
	if len(m.Snapshots) != 2 {
		t.Errorf("%+v", m.Snapshots)
	}
	f.Keep = 0
	time.Sleep(2 * time.Millisecond)
	_, m = f.update(ab, two)
	if len(m.Snapshots) != 1 || m.Snapshots[0].ID != m.CurrentSnapshotID || len(m.SnapshotLog) != 1 {
		t.Errorf("%+v", m)
	}
	time.Sleep(2 * time.Millisecond)
	f.update(ab, two)
	if left := f.names(); len(left) != 4 { // the version hint, the metadata of one version, a manifest list and a manifest
		t.Errorf("left: %q", left)
	}
}

func (f *folder) names() (names []string) {
	f.t.Helper()
	entries, err := os.ReadDir(f.dir())
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
