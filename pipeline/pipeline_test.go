package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"stackmill/schema"
	"stackmill/schema/storedir"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestExplain(t *testing.T) {
	var b strings.Builder
	if err := Explain(&b); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/explain.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
}

// record composes a recording with n samples.
func record(t *testing.T, dir string, n int) {
	t.Helper()
	e := gprofngtest.New(dir)
	e.Function(0, 0x1000, 0x100, "main")
	e.Declare(schema.Clock, `ptimer="1000" numstates="1"`)
	stack := e.Frame(0x1004)
	for i := range n {
		e.Events(schema.Clock).Put(0, &gprofngtest.Layouts[schema.Clock][0],
			gprofngtest.Packet{Thread: 1, Time: int64(i) * 1000, Stack: stack, Values: []int64{10, 1}})
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDiscover(t *testing.T) {
	root := t.TempDir()
	record(t, filepath.Join(root, "a.er"), 1)
	record(t, filepath.Join(root, "below", "b.er"), 2)
	record(t, filepath.Join(root, "below", "deeper", "c.er"), 3)
	record(t, filepath.Join(root, "deep", "er", "d.er"), 3)
	group := filepath.Join(root, "pair.erg")
	members := "#analyzer experiment group\n" + filepath.Join(root, "a.er") + "\n" + filepath.Join(root, "gone.er") + "\n"
	if err := errors.Join(os.WriteFile(group, []byte(members), 0o644), os.WriteFile(filepath.Join(root, "notes.txt"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name      string
		paths     []string
		recursive bool
		found     []string
		bad       []string // parts of the errors
	}{
		{"a recording", []string{"a.er"}, false, []string{"a.er"}, nil},
		{"named twice", []string{"a.er", "a.er/"}, false, []string{"a.er"}, nil},
		{"a folder", []string{"below"}, false, []string{"below/b.er"}, nil},
		{"a folder and those below", []string{"below"}, true, []string{"below/b.er", "below/deeper/c.er"}, nil},
		{"a group", []string{"pair.erg"}, false, []string{"a.er"}, []string{"gone.er: a member of"}},
		{"a folder without any", []string{"below/deeper/c.er/archives", "a.er"}, false, []string{"a.er"}, []string{"archives"}},
		{"a folder whose folders have some", []string{"deep"}, false, nil, []string{"one further below, " + filepath.Join(root, "deep", "er", "d.er") + " (--recursive"}},
		{"not there", []string{"nowhere"}, false, nil, []string{"no such file"}},
		{"no recording", []string{"notes.txt"}, false, nil, []string{"no recording found"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var paths, found, bad []string
			for _, p := range tt.paths {
				paths = append(paths, filepath.Join(root, p))
			}
			for _, in := range discover(t.Context(), paths, tt.recursive) {
				if in.err != nil {
					bad = append(bad, in.path+": "+in.err.Error())
				} else {
					rel, _ := filepath.Rel(root, in.path)
					found = append(found, rel)
				}
			}
			if diff := cmp.Diff(tt.found, found); diff != "" {
				t.Error(diff)
			}
			if len(bad) != len(tt.bad) {
				t.Fatalf("errors %q, want %q", bad, tt.bad)
			}
			for i := range bad {
				if !strings.Contains(bad[i], tt.bad[i]) {
					t.Errorf("error %q lacks %q", bad[i], tt.bad[i])
				}
			}
		})
	}
}

// statuses ingests and returns the status of each input.
func statuses(t *testing.T, store string, paths ...string) []string {
	t.Helper()
	results, err := Ingest(t.Context(), Options{Store: store, Jobs: 2, DebugDirs: []string{}, Contents: known(t, store)}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	var s []string
	for _, r := range results {
		s = append(s, r.Status)
	}
	return s
}

func batches(t *testing.T, store string) int {
	t.Helper()
	commits, err := storedir.Commits(store)
	if err != nil {
		t.Fatal(err)
	}
	return len(commits)
}

func TestContentIsIngestedOnce(t *testing.T) {
	shared(t, 1)
	root, store := t.TempDir(), filepath.Join(t.TempDir(), "store")
	a, b := filepath.Join(root, "a.er"), filepath.Join(root, "b.er")
	record(t, a, 10)
	record(t, b, 20)
	if diff := cmp.Diff([]string{Complete, Complete}, statuses(t, store, a, b)); diff != "" {
		t.Error(diff)
	}
	moved := filepath.Join(root, "moved.er")
	if err := os.Rename(a, moved); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{Skipped, Skipped}, statuses(t, store, moved, b)); diff != "" {
		t.Error(diff)
	}
	if n := batches(t, store); n != 2 {
		t.Errorf("%d batches", n)
	}
}

func TestCopiesInOneCommand(t *testing.T) {
	root, store := t.TempDir(), filepath.Join(t.TempDir(), "store")
	a, b := filepath.Join(root, "a.er"), filepath.Join(root, "copy.er")
	record(t, a, 10)
	if err := os.CopyFS(b, os.DirFS(a)); err != nil {
		t.Fatal(err)
	}
	got := statuses(t, store, a, b)
	if !(got[0] == Complete && got[1] == Skipped) && !(got[0] == Skipped && got[1] == Complete) || batches(t, store) != 1 {
		t.Errorf("%v, %d batches", got, batches(t, store))
	}
}

// A failed recording is tried again; so is an empty one, which is identified by its name.
func TestFailedIsTriedAgain(t *testing.T) {
	shared(t, 1)
	root, store := t.TempDir(), filepath.Join(t.TempDir(), "store")
	one, two := filepath.Join(root, "one.er"), filepath.Join(root, "two.er")
	if err := errors.Join(os.Mkdir(one, 0o755), os.Mkdir(two, 0o755)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if diff := cmp.Diff([]string{Failed, Failed}, statuses(t, store, one, two)); diff != "" {
			t.Error(diff)
		}
	}
	if n := batches(t, store); n != 2 {
		t.Errorf("%d batches", n)
	}
}

func TestInterruptedLeavesTheStoreAsItWas(t *testing.T) {
	root, store := t.TempDir(), filepath.Join(t.TempDir(), "store")
	record(t, filepath.Join(root, "a.er"), 10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Ingest(ctx, Options{Store: store}, root); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if _, err := storedir.Commits(store); err == nil || !errors.Is(err, storedir.ErrNoStore) && batches(t, store) != 0 {
		t.Errorf("commits of an interrupted run: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(store, "staging")); err == nil && len(left) > 0 {
		t.Errorf("left in staging: %v", left)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestUnwritableStoreStops(t *testing.T) {
	root := t.TempDir()
	record(t, filepath.Join(root, "a.er"), 10)
	store := filepath.Join(root, "file")
	if err := os.WriteFile(store, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Ingest(t.Context(), Options{Store: store, Jobs: 1}, filepath.Join(root, "a.er")); err == nil {
		t.Error("no error")
	}
}

// faulty decodes files named *.faulty: their content says what happens when events are read.
type faulty struct{ decode.Decoder }

func (faulty) Name() string                          { return "faulty" }
func (faulty) Detect(path string) bool               { return filepath.Ext(path) == ".faulty" }
func (faulty) Members(path string) ([]string, error) { return []string{path}, nil }
func (faulty) Files(string) ([]string, error)        { return []string{"."}, nil }
func (faulty) Open(_ context.Context, path string) *decode.Recording {
	return &decode.Recording{
		Locate: func(string) []decode.Candidate { return nil },
		Close:  func() error { return nil },
		Processes: []*decode.Process{{
			Number: 1, Closed: true, Kinds: []decode.KindInfo{{Kind: schema.Heap}},
			Events: func(schema.Kind, ...string) decode.EventReader {
				if strings.Contains(path, "panics") {
					panic("a mistake of ours")
				}
				return lost{}
			},
		}},
	}
}

type lost struct{}

func (lost) Next() (arrow.RecordBatch, error) { return nil, errors.New("input/output error") }
func (lost) Close()                           {}

// unmapped is faulty with seven processes, whose mappings are wrong.
type unmapped struct{ faulty }

func (u unmapped) Open(ctx context.Context, path string) *decode.Recording {
	rec := u.faulty.Open(ctx, path)
	only := rec.Processes[0]
	rec.Processes = nil
	for n := range 7 {
		p := *only
		p.Number = n + 1
		p.Mappings = []decode.MapEvent{{Path: fmt.Sprint("/lib", n), Modes: 5}, {Unmap: true, Address: 0x1000}}
		rec.Processes = append(rec.Processes, &p)
	}
	return rec
}

// Problems of a process's mappings come before problems of its events, although mappings are read
// some processes ahead.
func TestMappingProblems(t *testing.T) {
	before := decoders
	decoders = []decode.Decoder{unmapped{}}
	defer func() { decoders = before }()
	path := filepath.Join(t.TempDir(), "maps.faulty")
	if err := os.WriteFile(path, []byte("maps"), 0o644); err != nil {
		t.Fatal(err)
	}
	results, err := Ingest(t.Context(), Options{Store: t.TempDir(), Jobs: 1, DebugDirs: []string{}}, path)
	if err != nil || len(results) != 1 {
		t.Fatal(err, results)
	}
	var got, want []string
	for _, p := range results[0].Problems {
		got = append(got, p.Reason)
		if p.Reason == "bad-mapping" {
			got = append(got, strings.Fields(p.Message)[2])
		}
	}
	for n := range 7 {
		want = append(want, "bad-mapping", fmt.Sprint("/lib", n), "unmap-without-map", "unreadable-events")
	}
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Error(diff)
	}
}

// A recording that fails while it is read, or reveals a bug, does not end the run.
func TestOthersGoOn(t *testing.T) {
	shared(t, 1)
	decoders = append(decoders, faulty{})
	defer func() { decoders = decoders[:len(decoders)-1] }()
	root, store := t.TempDir(), filepath.Join(t.TempDir(), "store")
	record(t, filepath.Join(root, "z.er"), 10)
	for _, name := range []string{"fails.faulty", "panics.faulty"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	results, err := Ingest(t.Context(), Options{Store: store, Jobs: 2, DebugDirs: []string{}}, root)
	if err != nil || len(results) != 3 {
		t.Fatal(err, results)
	}
	fails, panics, good := results[0], results[1], results[2]
	if fails.Status != Failed || len(fails.Problems) == 0 || fails.Problems[0].Reason != "unreadable-events" {
		t.Errorf("a file that cannot be read: %+v", fails)
	}
	if panics.Status != Failed || panics.Err == nil || !strings.Contains(panics.Err.Error(), "a mistake of ours") {
		t.Errorf("a mistake of ours: %+v", panics)
	}
	if good.Status != Complete || batches(t, store) != 2 {
		t.Errorf("the good one: %+v, %d batches", good, batches(t, store))
	}
}

// An experiment with events of all kinds has a sample of each.
func TestKinds(t *testing.T) {
	root, store := t.TempDir(), filepath.Join(t.TempDir(), "store")
	e := gprofngtest.New(filepath.Join(root, "kinds.er"))
	e.Function(0, 0x1000, 0x100, "main")
	stack := e.Frame(0x1004)
	e.Counter(0, "insts", 1000003, "")
	for k := range gprofngtest.Kinds {
		attrs := ""
		if k == schema.Clock {
			attrs = `ptimer="1000" numstates="10"`
		}
		e.Declare(k, attrs)
		layout := &gprofngtest.Layouts[k][0]
		values := make([]int64, 8)
		e.Events(k).Put(0, layout, gprofngtest.Packet{Thread: 1, Time: 1000, Stack: stack, Values: values[:valuesOf(layout)]})
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	results, err := Ingest(t.Context(), Options{Store: store, Jobs: 1, DebugDirs: []string{}}, root)
	if err != nil || len(results) != 1 || results[0].Samples == 0 {
		t.Fatal(err, results)
	}
	if want := int64(gprofngtest.Kinds); results[0].Samples != want {
		t.Errorf("%d samples, want one of each of %d kinds: %v", results[0].Samples, want, results[0].Problems)
	}
}

// valuesOf counts the fields of a layout that Packet.Values holds.
func valuesOf(l *gprofngtest.Layout) int {
	n := 0
	for _, f := range l.Fields {
		switch f.Name {
		case "LWPID", "THRID", "CPUID", "TSTAMP", "FRINFO":
		default:
			if f.Type != "STRING" {
				n++
			}
		}
	}
	return n
}

// With another root, files are found below it even if they are missing at their recorded paths, and
// files at recorded paths are not used.
func TestBelow(t *testing.T) {
	root, thisKernel := t.TempDir(), filepath.Join(t.TempDir(), "here")
	moved := filepath.Join(root, "usr", "lib", "a.so")
	if err := errors.Join(os.MkdirAll(filepath.Dir(moved), 0o755), os.WriteFile(moved, nil, 0o644), os.WriteFile(thisKernel, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	archived := decode.Candidate{Path: "/archives/x", Origin: "archive"}
	locate := below(root, func(path string) []decode.Candidate {
		candidates := []decode.Candidate{archived}
		if path == thisKernel {
			candidates = append(candidates, decode.Candidate{Path: path, Origin: "path"})
		}
		return candidates
	})
	for path, want := range map[string][]decode.Candidate{
		"/usr/lib/a.so":    {archived, {Path: moved, Origin: "path"}},
		"usr/lib/a.so":     {archived},
		"/usr/lib":         {archived},
		"/usr/lib/none.so": {archived},
		thisKernel:         {archived},
	} {
		if diff := cmp.Diff(want, locate(path)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}
