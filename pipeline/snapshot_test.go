package pipeline

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema/storedir"
)

// snapshot returns a snapshot of a store, which need not exist.
func snapshot(t *testing.T, store string) *storedir.Contents {
	t.Helper()
	look, err := storedir.ReadContents(store)
	if err != nil && !errors.Is(err, storedir.ErrNoStore) {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := look.WriteSnapshot(&text); err != nil {
		t.Fatal(err)
	}
	c, err := storedir.ReadSnapshot(store, &text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// known returns the contents that some tests give to ingests; nil to let them read the store.
var known = looking

func looking(*testing.T, string) *storedir.Contents { return nil }

// bothWays runs a test with ingests that read the store, and with ingests that have a snapshot.
func bothWays(t *testing.T, test func(t *testing.T)) {
	t.Run("looking", test)
	known = snapshot
	defer func() { known = looking }()
	t.Run("by a snapshot", test)
}

// byOld ingests with an older snapshot of the store, and returns the statuses of the inputs.
func byOld(t *testing.T, before *storedir.Contents, o Options, paths ...string) (s []string) {
	t.Helper()
	o.Jobs, o.DebugDirs, o.Contents = 1, []string{}, before
	results, err := Ingest(t.Context(), o, paths...)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		s = append(s, r.Status)
	}
	return s
}

// An ingest that starts from a snapshot does not store again what another program has ingested
// since, in the same batch or in another, and reads no other commits.
func TestPutInSinceSnapshot(t *testing.T) {
	root := t.TempDir()
	store := filepath.Join(root, "store")
	var dirs []string
	for i, name := range []string{"a.er", "b.er", "c.er"} {
		dirs = append(dirs, filepath.Join(root, name))
		record(t, dirs[i], 10+i)
	}
	for _, test := range []struct {
		name          string
		others, mine  []string
		want, visible []string
	}{
		{"the same", dirs, dirs, []string{Skipped, Skipped, Skipped}, []string{"a.er", "b.er", "c.er"}},
		{"alone", dirs[:1], dirs[:1], []string{Skipped}, []string{"a.er"}},
		{"with others", dirs[:2], dirs[1:], []string{Complete, Complete}, []string{"a.er", "b.er", "c.er"}},
		{"something else", dirs[:2], dirs[2:], []string{Complete}, []string{"a.er", "b.er", "c.er"}},
	} {
		if err := os.RemoveAll(store); err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, store)
		statuses(t, store, test.others...)
		if diff := cmp.Diff(test.want, byOld(t, before, Options{Store: store}, test.mine...)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		if diff := cmp.Diff(test.visible, seenIn(t, store)); diff != "" || !before.IsSnapshot() {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// Whether and how an experiment in a snapshot is ingested again depends on the current store: it
// keeps labels that were set since, even after these were merged, and stays deleted if it was
// deleted since.
func TestChangedSinceSnapshot(t *testing.T) {
	for _, test := range []struct {
		name    string
		change  func(t *testing.T, store string, c *storedir.Contents, id string) error
		status  string
		visible []string
	}{
		{"labeled", func(_ *testing.T, _ string, c *storedir.Contents, id string) error {
			return c.Label(storedir.Labels{Experiments: []string{id}, Set: map[string]string{"k": "v"}}, "")
		}, Partial, []string{"a.er k=v"}},
		{"labeled and merged", func(t *testing.T, store string, c *storedir.Contents, _ string) error {
			merged := c.Batches[0].Commit
			old := merged.Batch
			merged.Batch, merged.Replaces = "bmerged", []string{old}
			merged.Files = slices.Clone(merged.Files)
			for i, f := range merged.Files {
				merged.Files[i].Path = storedir.FilePath(f.Table, merged.Batch)
				if err := os.Rename(filepath.Join(store, f.Path), filepath.Join(store, merged.Files[i].Path)); err != nil {
					return err
				}
			}
			merged.Experiments[0].Labels, merged.Experiments[0].LabelCommits = map[string]string{"k": "v"}, []string{"lgone"}
			put(t, store, merged)
			return os.Remove(filepath.Join(store, storedir.CommitsDir, old+".json"))
		}, Partial, []string{"a.er k=v"}},
		{"forgotten", func(_ *testing.T, _ string, c *storedir.Contents, id string) error {
			return c.Delete([]string{id}, storedir.Forgotten, "")
		}, Forgotten, nil},
		{"damaged", func(_ *testing.T, store string, c *storedir.Contents, _ string) error {
			_, err := storedir.MarkForReingest(store, c.Batches[0].Batch, nil)
			return err
		}, Partial, []string{"a.er"}},
		{"put in by another", func(t *testing.T, store string, _ *storedir.Contents, _ string) error {
			byOld(t, nil, Options{Store: store, Program: "2"}, filepath.Join(filepath.Dir(store), "a.er"))
			return nil
		}, Skipped, []string{"a.er"}},
	} {
		root := t.TempDir()
		dir, store := filepath.Join(root, "a.er"), filepath.Join(root, "store")
		recordOf(t, dir, "/program", 10, 1_700_000_000)
		damage(t, dir)
		byOld(t, nil, Options{Store: store, Program: "1"}, dir)
		before := snapshot(t, store)
		now, err := storedir.ReadContents(store)
		if err == nil {
			err = test.change(t, store, now, now.Batches[0].Experiments[0].ExperimentID)
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{test.status}, byOld(t, before, Options{Store: store, Program: "2"}, dir)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		if diff := cmp.Diff(test.visible, seenIn(t, store)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// A damaged batch that another program committed does not count as stored: the same ingest stores
// its recordings again.
func TestDamagedSinceSnapshot(t *testing.T) {
	root := t.TempDir()
	dir, store := filepath.Join(root, "a.er"), filepath.Join(root, "store")
	record(t, dir, 10)
	before := snapshot(t, store)
	statuses(t, store, dir)
	commit := readOnly(t, store)
	if err := os.WriteFile(filepath.Join(store, storedir.CommitsDir, commit.Batch+".json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{Aborted, Complete} {
		if diff := cmp.Diff([]string{want}, byOld(t, before, Options{Store: store}, dir)); diff != "" {
			t.Error(diff)
		}
	}
	if again := readOnly(t, store); again.Files[0].Checksum != commit.Files[0].Checksum {
		t.Errorf("%+v", again)
	}
}
