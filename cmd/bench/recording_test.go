package main

import (
	"context"
	"path/filepath"
	"testing"

	"stackmill/pipeline"
)

// The composed recording must have no problems; otherwise, the comparison is not fair.
func TestRecording(t *testing.T) {
	const records = 20_000
	dir := t.TempDir()
	path, err := recording(dir, records)
	if err != nil {
		t.Fatal(err)
	}
	results, err := pipeline.Ingest(context.Background(), pipeline.Options{Store: filepath.Join(dir, "store"), Jobs: 1}, path)
	if err != nil {
		t.Fatal(err)
	}
	if r := results[0]; r.Status != pipeline.Complete || r.Samples != records {
		t.Errorf("status %s, %d samples, want %d\n%v", r.Status, r.Samples, records, r.Problems)
	}
}
