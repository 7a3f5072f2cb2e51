package explain

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// ingested ingests the recordings below a path and returns their store. Load objects are looked for
// below symfs, unless it is empty.
func ingested(t *testing.T, path, symfs string) *queries.DB {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	_, err := pipeline.Ingest(t.Context(), pipeline.Options{
		Store: store, Cache: t.TempDir(), Jobs: 2, Memory: 512 << 20, Recursive: true, DebugDirs: []string{t.TempDir()}, SymFS: symfs,
	}, path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := queries.Open(context.Background(), store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func everyStack(t *testing.T, db *queries.DB) (all []*Explanation) {
	t.Helper()
	experiments, err := db.Texts(t.Context(), "SELECT experiment_id FROM experiments ORDER BY ALL")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range experiments {
		locations, err := readLocations(t.Context(), db, id)
		if err != nil {
			t.Fatal(err)
		}
		nodes, err := db.Records(t.Context(), "SELECT node, up, frame FROM stack_tree WHERE experiment_id = ? ORDER BY node", id)
		if err != nil {
			t.Fatal(err)
		}
		frames, err := db.Records(t.Context(), "SELECT * FROM tree_frames WHERE experiment_id = ? ORDER BY frame", id)
		if err != nil {
			t.Fatal(err)
		}
		found, err := db.Records(t.Context(), `SELECT r.experiment_id, experiment, raw_stack_id, node, w.user_stack_id, w.expert_stack_id, w.machine_stack_id
			FROM recorded_stacks_wide r JOIN raw_stacks w USING (experiment_id, raw_stack_id) JOIN experiment_names n ON n.experiment_id = r.experiment_id
			WHERE r.experiment_id = ? ORDER BY raw_stack_id`, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found {
			var path []pathFrame
			for n := r.Number("node"); n > 0; n -= nodes[n].Number("up") {
				path = append(path, newPathFrame(frames[nodes[n].Number("frame")], locations))
			}
			x := newExplanation(r)
			x.setPath(r, path)
			all = append(all, x)
		}
	}
	return all
}

// For all stacks of all recordings, the explanation names a rule for each frame that is missing,
// new or changed. If a frame has a rule, the explanation of its stack has that rule, too.
func TestExplainsAll(t *testing.T) {
	recordings, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	perf := t.TempDir()
	if err := corpus.Perf(perf); err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	all := everyStack(t, ingested(t, filepath.Join(recordings, "exp"), ""))
	all = append(all, everyStack(t, ingested(t, filepath.Join(perf, "perf"), filepath.Join(perf, "symfs")))...)
	all = append(all, everyStack(t, ingested(t, filepath.Join(perf, "callers"), filepath.Join(perf, "symfs")))...)
	for _, x := range all {
		rules := map[string]bool{}
		for _, s := range x.Rules {
			if s.Rule == "" || s.Title == "" {
				t.Errorf("%s, recorded stack %d: %s without a rule", x.Experiment, x.RawStackID, s.text())
			}
			rules[s.Rule], told[s.Rule+" "+s.Change] = true, true
		}
		for _, m := range x.Stacks {
			for _, f := range m.Frames {
				if f.Rule != "" && !rules[f.Rule] {
					t.Errorf("%s, recorded stack %d, %v: nothing is told of the %s of %s", x.Experiment, x.RawStackID, m.Modes, f.Rule, f.name())
				}
			}
		}
	}
	for _, want := range []string{"S11 drops", "S11 shows as", "S12 puts in", "S17 drops", "S17 puts in", "S18 puts in", "S21 calls", "S22 drops", "S22 inferred puts in", "S22 missing puts in", "S25 drops"} {
		if !told[want] {
			t.Errorf("no stack of which %s something", want)
		}
	}
}

// Composed stacks of kinds that no recording has: with return registers, of Java, and of OpenMP.
func TestExplainsComposed(t *testing.T) {
	const (
		pcMain, pcWork, pcWait = 0x10004, 0x10104, 0x10204
		nowhere                = 0x77777777
		check, truncated       = schema.MarkLeafCheck, schema.MarkTruncated
	)
	for _, test := range []struct {
		name string
		put  func(*gprofngtest.Experiment) (stack uint64)
		want []string
	}{
		{"as recorded", func(e *gprofngtest.Experiment) uint64 { return e.Frame(pcWork, pcMain) }, nil},
		{"register used", func(e *gprofngtest.Experiment) uint64 { return e.Frame(pcWork, check, pcWait, pcMain) },
			[]string{"S7 uses wait+0x4 from the return register"}},
		{"register not used", func(e *gprofngtest.Experiment) uint64 { return e.Frame(pcWork, check, nowhere, pcMain) }, []string{"S7 drops <Unknown>"}},
		{"register that the stack has, too", func(e *gprofngtest.Experiment) uint64 { return e.Frame(pcWork, check, pcMain, pcMain) }, []string{"S7 drops main+0x4"}},
		{"a marker where none can be", func(e *gprofngtest.Experiment) uint64 { return e.Frame(truncated, pcMain) }, nil},
		{"in the kernel", func(e *gprofngtest.Experiment) uint64 {
			return e.Frame(0xffffffff81000140, 0xffffffff81000040, pcWork, pcMain)
		},
			[]string{"S25 drops <Unknown>, <Unknown>"}},
		{"truncated", func(e *gprofngtest.Experiment) uint64 { return e.Frame(pcWork, truncated) }, []string{"S18 puts in <Truncated-stack>"}},
		{"an OpenMP stack", func(e *gprofngtest.Experiment) uint64 {
			return e.FrameWith(1, gprofngtest.Native(pcWait, pcMain), gprofngtest.OpenMP(3, pcWork, pcMain))
		}, []string{"S17 puts in <OMP-implicit_barrier>, work+0x4, main+0x4", "S17 drops wait+0x4, main+0x4"}},
		{"a Java stack", func(e *gprofngtest.Experiment) uint64 {
			e.Class(1, "Ldemo/Main;", "Main.java")
			e.Method(1, 1, "run", "()V")
			e.JavaThread(7, "main", "main", 0, 0)
			return e.FrameWith(1, gprofngtest.Native(pcWait, pcMain), gprofngtest.Java(gprofngtest.JavaFrame{BCI: 3, Method: 1}))
		}, []string{"S14 puts in demo.Main.run()", "S14 drops wait+0x4, main+0x4"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "test.er")
			e := gprofngtest.New(dir)
			for i, f := range []string{"main", "work", "wait"} {
				e.Function(0, 0x10000+uint64(i)*0x100, 0x100, f)
			}
			e.Declare(schema.Clock, `ptimer="1000" numstates="10"`)
			e.Events(schema.Clock).Put(0, &gprofngtest.Layouts[schema.Clock][0], gprofngtest.Packet{Thread: 7, Time: 1, Stack: test.put(e), Values: []int64{0, 1}})
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			all := everyStack(t, ingested(t, dir, ""))
			if len(all) != 1 {
				t.Fatalf("%d recorded stacks", len(all))
			}
			var got []string
			for _, s := range all[0].Rules {
				got = append(got, s.Rule+" "+s.text())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Tests the text of steps that have long lists of frames, or change frames.
func TestStepText(t *testing.T) {
	var frames []frame
	for i := range 6 {
		frames = append(frames, frame{Function: fmt.Sprint("f", i)})
	}
	got := []string{step{Change: drops, Frames: frames}.text(), step{Change: shows, Frames: frames[:2]}.text()}
	if want := []string{"drops f0, f1, f2, f3 and 2 more", "shows f0 as f1"}; !slices.Equal(got, want) {
		t.Errorf("got %s", strings.Join(got, "; "))
	}
}
