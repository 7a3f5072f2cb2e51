package perf

import (
	"path/filepath"
	"strings"
	"testing"

	"stackmill/pipeline"
)

// The problems of a damaged recording say what is wrong and where. All samples that can be read are
// stored. perf refuses these recordings.
func TestDamaged(t *testing.T) {
	const whole = 1643 // samples of the recording that they were made from
	for name, want := range map[string]struct {
		status  string
		samples int64
		reason  string
		offset  int64
	}{
		"d_attrsize":     {pipeline.Failed, 0, "bad-attributes", 24},
		"d_chainnr":      {pipeline.Partial, whole - 1, "bad-sample", -1},
		"d_datasize":     {pipeline.Partial, whole, "cut-file", 48},
		"d_datasize0":    {pipeline.Partial, whole, "bad-record", 184184},
		"d_magic":        {"", 0, "it looks like a damaged recording of perf", 0},
		"d_size0":        {pipeline.Partial, whole - 1, "bad-record", 95176},
		"d_sizeover":     {pipeline.Partial, whole - 1, "bad-record", 184048},
		"d_trunc":        {pipeline.Partial, 811, "cut-file", 48},
		"d_trunc_header": {pipeline.Failed, 0, "bad-header", 0},
		"d_unktype":      {pipeline.Complete, whole - 1, "unknown-record", -1},
		"d_zero":         {"", 0, "the file is empty", 0},
	} {
		t.Run(name, func(t *testing.T) {
			results, err := ingest(filepath.Join(t.TempDir(), "store"), filepath.Join(folder, "damaged", name+".data"))
			if err != nil || len(results) != 1 {
				t.Fatal(results, err)
			}
			r := results[0]
			if want.status == "" {
				if r.Err == nil || !strings.Contains(r.Err.Error(), want.reason) {
					t.Errorf("%+v", r)
				}
				return
			}
			if r.Status != want.status || r.Samples != want.samples {
				t.Errorf("%s with %d samples, want %s with %d", r.Status, r.Samples, want.status, want.samples)
			}
			for _, p := range r.Problems {
				if p.Reason == want.reason && p.Offset == want.offset && p.File == name+".data" {
					return
				}
			}
			t.Errorf("no problem %s at %d: %v", want.reason, want.offset, r.Problems)
		})
	}
}
