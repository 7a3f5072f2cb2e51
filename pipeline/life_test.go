package pipeline

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/testfiles"
	"stackmill/schema/storedir"
)

// seenIn returns the experiments that readers see: base names, with their labels.
func seenIn(t *testing.T, store string) (list []string) {
	t.Helper()
	look, err := storedir.ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	for i := range look.Batches {
		for e := range look.Batches[i].Visible {
			line := filepath.Base(e.Path)
			for _, key := range slices.Sorted(maps.Keys(e.Labels)) {
				line += " " + key + "=" + e.Labels[key]
			}
			list = append(list, line)
		}
	}
	slices.Sort(list)
	return list
}

// unclose makes a recording look as if the collector had not finished it.
func unclose(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "log.xml")
	log, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, regexp.MustCompile(`(?m)^.*kind="exit".*\n`).ReplaceAll(log, nil), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Only one form of a recording is visible, wherever the others are, and in whichever order they are
// ingested.
func TestFormsOfOneRecording(t *testing.T) {
	bothWays(t, formsOfOneRecording)
}

func formsOfOneRecording(t *testing.T) {
	for _, test := range []struct {
		name           string
		first          string
		then           string
		want, statuses []string
	}{
		{"finished and moved", "unfinished.er", "finished.er", []string{"finished.er"}, []string{Complete}},
		{"an older copy", "finished.er", "unfinished.er", []string{"finished.er"}, []string{Skipped}},
		{"more of it", "shorter.er", "unfinished.er", []string{"unfinished.er"}, []string{Unclosed}},
		{"less of it", "unfinished.er", "shorter.er", []string{"unfinished.er"}, []string{Skipped}},
		{"a damaged copy", "finished.er", "damaged.er", []string{"damaged.er", "finished.er"}, []string{Partial}},
		{"another one", "unfinished.er", "other.er", []string{"other.er", "unfinished.er"}, []string{Complete}},
	} {
		root := t.TempDir()
		store := filepath.Join(root, "store")
		for i, name := range []string{test.first, test.then} {
			dir, n, wall := filepath.Join(root, name), 10, int64(1_700_000_000)
			switch name {
			case "shorter.er":
				n = 5
			case "other.er":
				wall++
			}
			recordOf(t, dir, "/program", n, wall)
			if name == "unfinished.er" || name == "shorter.er" {
				unclose(t, dir)
			}
			if name == "damaged.er" {
				damage(t, dir)
			}
			got := statuses(t, store, dir)
			if diff := cmp.Diff(test.statuses, got); i == 1 && diff != "" {
				t.Errorf("%s: %s", test.name, diff)
			}
		}
		if diff := cmp.Diff(test.want, seenIn(t, store)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// If two forms are ingested at once, both are read, in whichever order that ends; one of them is
// visible.
func TestFormsAtOnce(t *testing.T) {
	for _, names := range [][]string{{"finished.er", "unfinished.er"}, {"unfinished.er", "finished.er"}} {
		root := t.TempDir()
		var dirs, want []string
		for _, name := range names {
			dir := filepath.Join(root, name)
			recordOf(t, dir, "/program", 10, 1_700_000_000)
			status := Complete
			if name == "unfinished.er" {
				unclose(t, dir)
				status = Unclosed
			}
			dirs, want = append(dirs, dir), append(want, status)
		}
		store := filepath.Join(root, "store")
		results, err := Ingest(t.Context(), Options{Store: store, Jobs: 1, DebugDirs: []string{}}, dirs...)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range results {
			got = append(got, r.Status)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"finished.er"}, seenIn(t, store)); diff != "" {
			t.Error(diff)
		}
	}
}

// An unfinished copy of a stored recording is read once, until the finished form changes.
func TestUnfinishedCopy(t *testing.T) {
	root := t.TempDir()
	a, b, store := filepath.Join(root, "a.er"), filepath.Join(root, "b.er"), filepath.Join(root, "store")
	for _, dir := range []string{a, b} {
		recordOf(t, dir, "/program", 10, 1_700_000_000)
	}
	unclose(t, b)
	old := time.Now().Add(-time.Hour)
	for _, file := range testfiles.Glob(t, filepath.Join(root, "*", "*")) {
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	ingest := func(path, want string, read bool) {
		t.Helper()
		results, err := Ingest(t.Context(), Options{Store: store, Jobs: 1, DebugDirs: []string{}}, path)
		if err != nil || len(results) != 1 || results[0].Status != want || len(results[0].Stages) > 0 != read {
			t.Errorf("%+v, %v", results, err)
		}
	}
	ingest(a, Complete, true)
	ingest(b, Skipped, true)
	ingest(b, Skipped, false)
	ingest(a, Skipped, false)
	look, err := storedir.ReadContents(store)
	if err == nil {
		err = look.Delete([]string{look.Batches[0].Experiments[0].ExperimentID}, storedir.Forgotten, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	ingest(b, Forgotten, true)
	ingest(b, Forgotten, false)
	ingest(a, Forgotten, false)
}

// A deleted experiment, or an unfinished copy of it, is not ingested again until requested. New
// experiments get labels, and keep them.
func TestForgotten(t *testing.T) {
	root := t.TempDir()
	a, b, store := filepath.Join(root, "a.er"), filepath.Join(root, "b.er"), filepath.Join(root, "store")
	recordOf(t, a, "/program", 10, 1_700_000_000)
	o := Options{Store: store, Jobs: 1, DebugDirs: []string{}}
	ingest := func(night string, paths ...string) (list []string) {
		t.Helper()
		o.Labels = func(path string) map[string]string {
			return map[string]string{"night": night, "of": filepath.Base(path)}
		}
		results, err := Ingest(t.Context(), o, paths...)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			list = append(list, r.Status)
		}
		return list
	}
	expect := func(statuses, want []string, got ...string) {
		t.Helper()
		if diff := cmp.Diff(statuses, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want, seenIn(t, store)); diff != "" {
			t.Error(diff)
		}
	}
	take := func(status string) {
		t.Helper()
		look, err := storedir.ReadContents(store)
		if err == nil {
			err = look.Delete([]string{look.Batches[0].Experiments[0].ExperimentID}, status, "")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	recordOf(t, b, "/program", 10, 1_700_000_000)
	unclose(t, b)
	expect([]string{Unclosed}, []string{"b.er night=1 of=b.er"}, ingest("1", b)...)
	expect([]string{Complete}, []string{"a.er night=2 of=a.er"}, ingest("2", a)...)
	expect([]string{Skipped}, []string{"a.er night=2 of=a.er"}, ingest("3", a)...)
	take(storedir.Forgotten)
	if err := os.Remove(filepath.Join(store, storedir.JournalFile)); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	expect([]string{Forgotten, Skipped}, nil, ingest("3", a, b)...)
	o.Forgotten = true
	expect([]string{Complete, Skipped}, []string{"a.er night=4 of=a.er"}, ingest("4", a, b)...)
	take(storedir.Summary)
	expect([]string{Complete}, []string{"a.er night=4 of=a.er"}, ingest("5", a)...)
	take(storedir.Summary)
	o.Forgotten = false
	expect([]string{Skipped, Skipped}, []string{"a.er night=4 of=a.er"}, ingest("6", a, b)...)
}
