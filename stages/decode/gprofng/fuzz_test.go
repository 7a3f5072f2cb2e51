package gprofng_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// rich builds an experiment with all kinds of content.
func rich(t testing.TB) *gprofngtest.Experiment {
	e := newExperiment(t)
	e.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/a")
	e.DynamicFunction("[vdso]", "__vdso_time", 0x7010, 40)
	e.Function(1, 0x7000, 0x100, "[vdso]")
	e.Function(2, 0x8000, 0x100, "jit")
	e.CompiledMethod(3, 0x9000, 64, 0x40)
	e.Unmap(4, 0x8000)
	e.Code(2, 0x8000, []byte{1, 2, 3, 4}, "jit.x", []decode.CodeLine{{Offset: 1, Line: 2}})
	e.Class(1, "Lorg/demo/Main;", "Main.java")
	e.Method(1, 0x40, "run", "()V")
	e.JavaThread(1, "main", "main", 1, 2)
	e.Overview(0, nil, nil)
	e.Overview(1, []int64{1}, []int64{1})
	e.Fragment(9, 0, 7, 8)
	stacks := []uint64{e.Frame(1, 2), e.FrameWith(0, gprofngtest.Linked(9, 5), gprofngtest.OpenMP(2, 3)), e.FrameWith(0, gprofngtest.Java(gprofngtest.JavaFrame{BCI: 1, Method: 0x40}))}
	for kind := range gprofngtest.Kinds {
		e.Declare(kind, `ptimer="997" numstates="1"`)
		for i := range gprofngtest.Layouts[kind] {
			for n := range 3 {
				e.Events(kind).Put(n%2, &gprofngtest.Layouts[kind][i], gprofngtest.Packet{Time: int64(9 - n), Stack: stacks[n], Values: []int64{1, 2, 3}, Text: "name"})
			}
		}
	}
	e.Counter(0, "cycles", 1000, "")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return e
}

// fuzzFile opens an experiment in which one file has arbitrary bytes.
func fuzzFile(f *testing.F, name string) {
	e := rich(f)
	path := filepath.Join(e.Dir, name)
	seed, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.TrimRight(seed, "\x00")) // without the padding
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		rec := gprofng.New().Open(t.Context(), e.Dir)
		defer rec.Close()
		for _, p := range rec.Processes {
			for kind := range gprofngtest.Kinds {
				got, _ := events(t, p, kind)
				n := int64(len(got["time_ns"]))
				if !slices.IsSorted(got["time_ns"]) || kind != schema.Clock && n != p.Records(kind) {
					t.Fatalf("%d %s events of %d packets", n, kind, p.Records(kind))
				}
				for _, s := range got["raw_stack"] {
					if s < -1 || s >= int64(p.Stacks.Len()) {
						t.Fatalf("stack %d of %d", s, p.Stacks.Len())
					}
				}
			}
		}
	})
}

func FuzzLog(f *testing.F)    { fuzzFile(f, "log.xml") }
func FuzzFrames(f *testing.F) { fuzzFile(f, "data.frameinfo") }
func FuzzHeap(f *testing.F)   { fuzzFile(f, "heaptrace") }
func FuzzIO(f *testing.F)     { fuzzFile(f, "iotrace") }
func FuzzClock(f *testing.F)  { fuzzFile(f, "profile") }

// The rich experiment is read without problems above Info, for every kind of machine from which
// seeds of the fuzz targets come.
func TestRich(t *testing.T) {
	e := rich(t)
	rec := open(t, e.Dir)
	for _, p := range rec.Problems.Problems {
		if p.Reason != "untraced-calls" && !strings.HasPrefix(p.Reason, "unused-") {
			t.Error(p)
		}
	}
	for kind := range gprofngtest.Kinds {
		if rec.Processes[0].Records(kind) == 0 {
			t.Errorf("no %s events", kind)
		}
	}
}
