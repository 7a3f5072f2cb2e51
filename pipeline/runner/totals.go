package runner

import (
	"time"

	"stackmill/pipeline"
	"stackmill/schema/diagnostic"
	"stackmill/schema/storedir"
)

// totals are the sums over the results of ingests.
type totals struct {
	Inputs         int                `json:"inputs"`
	Experiments    map[string]int     `json:"experiments"` // status -> number of experiments
	Samples        int64              `json:"samples"`
	RecordingBytes int64              `json:"recording_bytes"` // size of the committed recordings
	Rows           int64              `json:"rows"`            // rows of the committed recordings
	Batches        int                `json:"batches"`
	FileRows       int64              `json:"file_rows"` // rows in the files of the batches
	FileBytes      int64              `json:"file_bytes"`
	Problems       map[string]int     `json:"problems"` // severity -> number of problems
	StageSeconds   map[string]float64 `json:"stage_seconds"`

	cpu time.Duration
}

// committedStatuses are the statuses of experiments that an ingest commits.
var committedStatuses = []string{pipeline.Complete, pipeline.Unclosed, pipeline.Partial, pipeline.Failed}

// newTotals returns totals that have every status and severity, so that the report shows 0 for
// those that did not occur.
func newTotals() *totals {
	t := &totals{Experiments: map[string]int{}, Problems: map[string]int{}, StageSeconds: map[string]float64{}}
	for _, s := range append([]string{pipeline.Skipped, pipeline.Forgotten, pipeline.Aborted}, committedStatuses...) {
		t.Experiments[s] = 0
	}
	for s := diagnostic.Info; s <= diagnostic.Error; s++ {
		t.Problems[s.String()] = 0
	}
	return t
}

// totalsOf sums up results, without the sizes of batches.
func totalsOf(results []pipeline.Result) *totals {
	t := newTotals()
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

// count adds the sizes of batches.
func (t *totals) count(batches []batchReport) {
	t.Batches += len(batches)
	for _, b := range batches {
		t.FileRows += b.Rows
		t.FileBytes += b.Bytes
	}
}

// add adds other totals.
func (t *totals) add(o *totals) {
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

// batchReport is a batch in the report.
type batchReport struct {
	Batch       string `json:"batch"`
	Experiments int    `json:"experiments"`
	Files       int    `json:"files"`
	Rows        int64  `json:"rows"`
	Bytes       int64  `json:"bytes"`
}

// batchesOf returns the batches that the results name, in their order, without those that another
// program has merged or removed since.
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
