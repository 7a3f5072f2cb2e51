package pipeline

import (
	"path/filepath"
	"strings"
	"testing"

	"stackmill/acceptance/corpus"
	"stackmill/stages/unwind"
)

// When the rules fail, which run beside the batches, their error is that of the recording, and
// the batches that follow are not read for nothing.
func TestRulesFail(t *testing.T) {
	perf := t.TempDir()
	if err := corpus.Perf(perf); err != nil {
		t.Fatal(err)
	}
	rules, count, counted := perStack[0].run, &perBatch[len(perBatch)-1].run, 0
	before := *count
	defer func() { perStack[0].run, *count = rules, before }()
	*count = func(b *batch) error { counted++; return before(b) }
	for _, fail := range []bool{false, true} {
		counted = 0
		if fail {
			perStack[0].run = func(*experiment, *unwind.Readings) { panic("a mistake of ours") }
		}
		results, err := Ingest(t.Context(), Options{Store: filepath.Join(t.TempDir(), "store"), Jobs: 1, DebugDirs: []string{}}, filepath.Join(perf, "perf", "p_fork.data"))
		if err != nil || len(results) != 1 {
			t.Fatal(err, results)
		}
		switch r := results[0]; {
		case !fail && (r.Err != nil || counted < 6): // of as many processes
			t.Errorf("%d batches were counted: %v", counted, r.Err)
		case fail && (r.Status != Failed || r.Err == nil || !strings.Contains(r.Err.Error(), "a mistake of ours")):
			t.Errorf("the rules failed: %+v", r)
		case fail && counted > 1: // the first may be before they do
			t.Errorf("the rules failed at the first of 6 processes, and %d batches were counted", counted)
		}
	}
}
