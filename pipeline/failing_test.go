package pipeline

import (
	"path/filepath"
	"strings"
	"testing"

	"stackmill/internal/corpus"
	"stackmill/stages/unwind"
)

// If the rules, which run concurrently, fail, the recording fails with their error, and no further
// batches are read.
func TestRulesFail(t *testing.T) {
	recording := forking(t)
	rules, count, counted := perStack[0].run, &perBatch[len(perBatch)-1].run, 0
	before := *count
	defer func() { perStack[0].run, *count = rules, before }()
	for _, fail := range []bool{false, true} {
		counted = 0
		begun := make(chan struct{}) // the first batch is counted: the rules fail then
		*count = func(b *batch) error {
			if counted++; counted == 1 {
				close(begun)
			}
			if fail {
				<-b.process.build.rules.Failed()
			}
			return before(b)
		}
		if fail {
			perStack[0].run = func(*build, *unwind.StackBatch) {
				<-begun
				panic("a mistake of ours")
			}
		}
		results, err := Ingest(t.Context(), Options{Store: filepath.Join(t.TempDir(), "store"), Jobs: 1, DebugDirs: []string{}}, recording)
		if err != nil || len(results) != 1 {
			t.Fatal(err, results)
		}
		switch r := results[0]; {
		case !fail && (r.Err != nil || counted < 6): // of as many processes
			t.Errorf("%d batches were counted: %v", counted, r.Err)
		case fail && (r.Status != Failed || r.Err == nil || !strings.Contains(r.Err.Error(), "a mistake of ours")):
			t.Errorf("the rules failed: %+v", r)
		case fail && counted != 1:
			t.Errorf("the rules failed at the first of 6 processes, and %d batches were counted", counted)
		}
	}
}

// forking returns the path of a recording of six processes.
func forking(t *testing.T) string {
	t.Helper()
	perf := t.TempDir()
	if err := corpus.Perf(perf); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(perf, "perf", "p_fork.data")
}

// Events of the next process pass the stages while stacks of the one before wait for the rules.
// Here the rules wait for these events: forever, if the stages do not overlap.
func TestProcessesOverlap(t *testing.T) {
	rules, count := perStack[0].run, &perBatch[len(perBatch)-1].run
	before := *count
	defer func() { perStack[0].run, *count = rules, before }()
	counted, second := map[int]bool{}, make(chan struct{})
	*count = func(b *batch) error {
		if counted[b.process.recorded.Number] = true; len(counted) == 2 {
			close(second)
			*count = before
		}
		return before(b)
	}
	perStack[0].run = func(b *build, r *unwind.StackBatch) {
		<-second
		rules(b, r)
	}
	results, err := Ingest(t.Context(), Options{Store: t.TempDir(), Jobs: 1, DebugDirs: []string{}}, forking(t))
	if err != nil || len(results) != 1 || results[0].Err != nil || len(counted) != 2 {
		t.Fatal(err, results, counted)
	}
}

// If the stages before a process's turn fail, the recording fails.
func TestBeforehandFails(t *testing.T) {
	before := beforehand[0].run
	defer func() { beforehand[0].run = before }()
	for _, at := range []int{1, 6} {
		beforehand[0].run = func(p *process) {
			if p.recorded.Number == at {
				panic("a mistake of ours")
			}
			before(p)
		}
		results, err := Ingest(t.Context(), Options{Store: t.TempDir(), Jobs: 1, DebugDirs: []string{}}, forking(t))
		if err != nil || len(results) != 1 || results[0].Status != Failed || results[0].Err == nil || !strings.Contains(results[0].Err.Error(), "a mistake of ours") {
			t.Errorf("at process %d: %v, %+v", at, err, results)
		}
	}
}
