package pipeline

import (
	"path/filepath"
	"slices"
	"testing"

	"stackmill/schema/storedir"
)

// A result has the recording's batch, its number of rows, and the time of each stage.
func TestResultsOfStages(t *testing.T) {
	known := stageNames()
	shared(t, 2)
	dir, store := t.TempDir(), filepath.Join(t.TempDir(), "store")
	var paths []string
	for i := range 33 { // some share a batch
		paths = append(paths, filepath.Join(dir, string(rune('a'+i))+".er"))
		record(t, paths[i], i+1)
	}
	results, err := Ingest(t.Context(), Options{Store: store, Jobs: 2}, append(paths, paths[0]+"/")...)
	if err != nil || len(results) != len(paths) {
		t.Fatal(len(results), err)
	}
	rows := map[string]int64{}
	for _, r := range results {
		rows[r.Batch] += r.Rows
		var seen []string
		for _, s := range r.Stages {
			if !slices.Contains(known, s.Stage) || slices.Contains(seen, s.Stage) || s.Elapsed < 0 {
				t.Errorf("%s: stage %+v after %v", r.Path, s, seen)
			}
			seen = append(seen, s.Stage)
		}
		if len(seen) < 15 || seen[0] != identifyStage || seen[len(seen)-1] != writeStage {
			t.Errorf("%s: stages %v", r.Path, seen)
		}
	}
	for batch, n := range rows {
		c, err := storedir.ReadCommit(store, batch)
		if err != nil {
			t.Fatal(err)
		}
		own := int64(0)
		for _, f := range c.Files {
			if f.Table == "samples" || f.Table == "experiments" {
				own += f.Rows
			}
		}
		if n <= own {
			t.Errorf("batch %s: %d rows, at least %d are in the files", batch, n, own)
		}
	}
	for _, r := range again(t, store, paths) {
		if r.Status != Skipped || r.Batch != "" || r.Rows != 0 {
			t.Errorf("again: %+v", r)
		}
	}
}

// again ingests stored recordings, with a reading.
func again(t *testing.T, store string, paths []string) []Result {
	t.Helper()
	results, err := Ingest(t.Context(), Options{Store: store, Jobs: 2, Verify: true}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// stageNames returns the possible names in stage times.
func stageNames() []string {
	known := []string{identifyStage, eventsStage, writeStage}
	names := func(list ...string) { known = append(known, list...) }
	for i := range once {
		names(once[i].name)
	}
	for i := range beforehand {
		names(beforehand[i].name)
	}
	for i := range perProcess {
		names(perProcess[i].name)
	}
	for i := range perStack {
		names(perStack[i].name)
	}
	for i := range perBatch {
		names(perBatch[i].name)
	}
	for i := range sinks {
		names(sinks[i].name)
	}
	for i := range atEnd {
		names(atEnd[i].name)
	}
	return known
}
