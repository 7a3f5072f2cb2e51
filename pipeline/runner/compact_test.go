//go:build cgo

package runner

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackmill/internal/terminal"
	"stackmill/pipeline"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// Compact is suggested once for many small batches, and not for few.
func TestSuggestCompact(t *testing.T) {
	for _, batches := range []int{minSaved, minSaved + 1} {
		store := t.TempDir()
		if err := os.Mkdir(filepath.Join(store, storedir.CommitsDir), 0o777); err != nil {
			t.Fatal(err)
		}
		for i := range batches {
			id := fmt.Sprintf("%016x", i)
			c := storedir.Commit{Batch: id, StoreVersion: schema.StoreVersion, Ingested: time.Unix(int64(i), 0).UTC(),
				Experiments: []storedir.Entry{{ExperimentID: id, Generation: 1, Experiment: id, Path: "/" + id, Status: pipeline.Complete}},
				Files:       []storedir.File{{Table: "samples", Path: "tables/samples/" + id + ".parquet", Rows: 1, Bytes: 1, Checksum: storedir.Checksum(1)}}}
			data, err := c.Encode()
			if err == nil {
				err = os.WriteFile(filepath.Join(store, storedir.CommitsDir, id+".json"), data, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var stderr bytes.Buffer
		run := &Runner{Output: &terminal.Output{Stderr: &stderr}, Refresh: func(string) error { return nil }}
		run.Store, run.Memory = store, 1<<30
		for range 2 {
			run.compactAfterwards(t.Context(), &outcome{results: []pipeline.Result{{Batch: "new"}}}, nil)
			run.compactAfterwards(t.Context(), &outcome{results: []pipeline.Result{{Status: pipeline.Skipped}}}, nil)
		}
		want := 0
		if batches > minSaved {
			want = 1
		}
		if got := strings.Count(stderr.String(), "stackmill: 17 of 17 batches would be merged into 1 by stackmill compact"); got != want {
			t.Errorf("%d batches: %s", batches, stderr.String())
		}
	}
}
