package main

import (
	"maps"
	"slices"
	"time"

	"stackmill/pipeline"
	"stackmill/schema/diagnostic"
	"stackmill/schema/storedir"
)

// tally is what results of ingests sum up to.
type tally struct {
	Inputs         int                `json:"inputs"`
	Experiments    map[string]int     `json:"experiments"` // by status
	Samples        int64              `json:"samples"`
	RecordingBytes int64              `json:"recording_bytes"` // of the recordings that were put in
	Rows           int64              `json:"rows"`            // of the recordings that were put in
	Batches        int                `json:"batches"`
	FileRows       int64              `json:"file_rows"`  // in the files of the batches
	FileBytes      int64              `json:"file_bytes"` // likewise
	Problems       map[string]int     `json:"problems"`   // by severity
	StageSeconds   map[string]float64 `json:"stage_seconds"`

	cpu time.Duration
}

// statusesInStore are those of experiments that an ingest has put in a store.
var statusesInStore = []string{pipeline.Complete, pipeline.Unclosed, pipeline.Partial, pipeline.Failed}

// newTally has every status that an input can have, and every severity, so that what
// did not happen is 0, not missing.
func newTally() *tally {
	t := &tally{Experiments: map[string]int{}, Problems: map[string]int{}, StageSeconds: map[string]float64{}}
	for _, s := range append([]string{pipeline.Skipped, pipeline.Forgotten, pipeline.Aborted}, statusesInStore...) {
		t.Experiments[s] = 0
	}
	for s := diagnostic.Info; s <= diagnostic.Error; s++ {
		t.Problems[s.String()] = 0
	}
	return t
}

// tallyOf sums up all but the batches.
func tallyOf(results []pipeline.Result) *tally {
	t := newTally()
	t.Inputs = len(results)
	stages := map[string]time.Duration{}
	for i := range results {
		r := &results[i]
		t.Experiments[r.Status]++
		t.Samples += r.Samples
		if r.Batch != "" {
			t.RecordingBytes += r.Bytes
			t.Rows += r.Rows
		}
		for _, p := range r.Problems {
			t.Problems[p.Severity.String()]++
		}
		for _, s := range r.Stages {
			stages[s.Stage] += s.Elapsed
		}
	}
	for stage, elapsed := range stages {
		t.StageSeconds[stage] = seconds(elapsed)
	}
	return t
}

// statuses returns the statuses in the order of their names.
func (t *tally) statuses() []string { return slices.Sorted(maps.Keys(t.Experiments)) }

// count adds batches.
func (t *tally) count(batches []batchReport) {
	t.Batches += len(batches)
	for _, b := range batches {
		t.FileRows += b.Rows
		t.FileBytes += b.Bytes
	}
}

// add adds another tally.
func (t *tally) add(o *tally) {
	t.Inputs += o.Inputs
	t.Samples += o.Samples
	t.RecordingBytes += o.RecordingBytes
	t.Rows += o.Rows
	t.Batches += o.Batches
	t.FileRows += o.FileRows
	t.FileBytes += o.FileBytes
	t.cpu += o.cpu
	for status, n := range o.Experiments {
		t.Experiments[status] += n
	}
	for severity, n := range o.Problems {
		t.Problems[severity] += n
	}
	for stage, s := range o.StageSeconds {
		t.StageSeconds[stage] += s
	}
}

// batchReport is what a batch of the store has.
type batchReport struct {
	Batch       string `json:"batch"`
	Experiments int    `json:"experiments"`
	Files       int    `json:"files"`
	Rows        int64  `json:"rows"`
	Bytes       int64  `json:"bytes"`
}

// batchesOf returns the batches that results were put in, in the order of the results. One
// that another program has replaced since is left out.
func batchesOf(store string, results []pipeline.Result) []batchReport {
	list := []batchReport{}
	seen := map[string]bool{"": true}
	for i := range results {
		name := results[i].Batch
		if seen[name] {
			continue
		}
		seen[name] = true
		c, err := storedir.ReadCommit(store, name)
		if err != nil {
			continue
		}
		b := batchReport{Batch: name, Experiments: len(c.Experiments), Files: len(c.Files)}
		for _, f := range c.Files {
			b.Rows += f.Rows
			b.Bytes += f.Bytes
		}
		list = append(list, b)
	}
	return list
}
