package gprofng_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng/gprofngtest"
	"stackmill/stages/symbolize/image"
)

func TestImage(t *testing.T) {
	onMachines(t, func(t *testing.T, e *gprofngtest.Experiment) {
		lines := []decode.CodeLine{{Offset: 0, Line: 11}, {Offset: 7, Line: 12}}
		e.Segment(1, 0x2000, 3<<30, 0x5000, 11, `/lib/a & "b".so`)
		e.DynamicFunction("[vdso]", "__vdso_time", 0x7010, 40)
		e.DynamicFunction("[vdso]", "__vdso_getcpu", 0x7040, 44)
		e.Function(2, 0x7000, 0x100, "[vdso]")
		e.Function(3, 0x8000, 14, "jit<one>")
		e.CompiledMethod(4, 0x9000, 64, 0x42)
		e.Unmap(5, 0x8000)
		e.Function(6, 0x8000, 14, "jit_two")
		e.Map(`<event kind="map" object="segment" tstamp="0.5" vaddr="0x10" size="1" name="?Unresolvable"/>`)
		e.Code(2, 0x7000, []byte{1, 2, 3, 4}, "", nil)
		e.Code(3, 0x8000, []byte{5, 6, 7, 8}, "jit.x", lines)
		e.Code(7, 0x8000, nil, "two.x", nil)
		e.Code(7, 0xdead, nil, "lost.x", nil)
		rec := build(t, e)
		const dynamic = "<DYNAMIC_FUNCTIONS>"
		want := []decode.MapEvent{
			{Address: 0x1000, Size: 0x1000, Modes: 5, Path: "/bin/program"},
			{Time: 1, Address: 0x2000, Size: 3 << 30, FileOffset: 0x5000, Modes: 11, Path: `/lib/a & "b".so`},
			{Time: 2, Address: 0x7000, Size: 0x100, Modes: 5, Path: "[vdso]", Code: &decode.Code{
				Functions: []decode.CodeFunction{{Name: "__vdso_time", Address: 0x7010, Size: 40}, {Name: "__vdso_getcpu", Address: 0x7040, Size: 44}},
				Bytes:     []byte{1, 2, 3, 4}}},
			{Time: 3, Address: 0x8000, Size: 14, Modes: 5, Path: dynamic, Code: &decode.Code{Function: "jit<one>", Bytes: []byte{5, 6, 7, 8}, File: "jit.x", Lines: lines}},
			{Time: 4, Address: 0x9000, Size: 64, Modes: 5, Path: dynamic, Code: &decode.Code{Method: 0x42}},
			{Time: 5, Address: 0x8000, Unmap: true},
			{Time: 6, Address: 0x8000, Size: 14, Modes: 5, Path: dynamic, Code: &decode.Code{Function: "jit_two", File: "two.x"}},
		}
		if d := cmp.Diff(want, rec.Processes[0].Mappings); d != "" {
			t.Error(d)
		}
		wantReasons(t, rec, diagnostic.Warning, "dyntext:unknown-function")
	})
}

// One bad line costs one mapping, and is reported with its position.
func TestBadMapEvents(t *testing.T) {
	good := `<event kind="map" object="segment" tstamp="0.1" vaddr="0x1000" size="4096" foffset="+0x0" modes="0x005" chksum="0x0" name="/bin/a"/>`
	for _, c := range []struct{ name, line, reason string }{
		{"address", `<event kind="map" object="segment" tstamp="0.1" vaddr="zz" size="1" name="b"/>`, "bad-number"},
		{"no address", `<event kind="map" object="segment" tstamp="0.1" size="1" name="b"/>`, "bad-number"},
		{"size", `<event kind="map" object="segment" tstamp="0.1" vaddr="0x1" size="1x" name="b"/>`, "bad-number"},
		{"size beyond 64 bits", `<event kind="map" object="segment" tstamp="0.1" vaddr="0x1" size="99999999999999999999" name="b"/>`, "bad-number"},
		{"time", `<event kind="map" object="function" tstamp="soon" vaddr="0x1" size="1" name="b"/>`, "bad-number"},
		{"method", `<event kind="map" object="jcm" tstamp="0" vaddr="0x1" size="1" methodId="m"/>`, "bad-number"},
		{"unmap", `<event kind="unmap" tstamp="0" vaddr=""/>`, "bad-number"},
		{"cut in a value", `<event kind="map" object="segment" tstamp="0.1" vaddr="0x1" name="b`, "xml-syntax"},
		{"cut in a tag", `<event kind="map" object=`, "xml-syntax"},
		{"no name", `</>`, "xml-syntax"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newExperiment(t)
			e.Map("%s", good)
			e.Map("%s", c.line)
			e.Map("%s", good)
			rec := build(t, e)
			if n := len(rec.Processes[0].Mappings); n != 2 {
				t.Errorf("%d mappings are left, want 2", n)
			}
			if len(rec.Problems.Problems) == 0 {
				t.Fatal("no problem")
			}
			p := rec.Problems.Problems[0]
			line := [2]int64{int64(len(good)) + 1, int64(len(good) + 1 + len(c.line) + 1)}
			if p.Severity != diagnostic.Error || p.Reason != c.reason || p.File != "map.xml" || p.Offset < line[0] || p.Offset > line[1] {
				t.Errorf("%v (%s), want %s between %d and %d", p, p.Reason, c.reason, line[0], line[1])
			}
		})
	}
}

func TestJava(t *testing.T) {
	onMachines(t, func(t *testing.T, e *gprofngtest.Experiment) {
		e.Class(1, "Lorg/demo/Main;", "Main.java")
		e.Method(1, 0x40, "run", "(I[Ljava/lang/String;)V")
		e.Method(1, 0x41, "<init>", "()V")
		e.Class(2, "[I", "")
		e.Method(2, 0x50, "clone", "()V")
		e.JavaThread(7, "main", "main", 10, 0)
		e.JavaThread(8, "<worker>", "system", 20, 30)
		e.Log(`<event kind="jthread_end" tid="0x9" jthr="1" jenv="none" tstamp="0.000000040"/>`)
		rec := build(t, e)
		p := rec.Processes[0]
		if d := cmp.Diff(map[uint64]decode.JavaMethod{
			0x40: {Class: "org.demo.Main", Name: "run", Signature: "(I[Ljava/lang/String;)V", File: "Main.java"},
			0x41: {Class: "org.demo.Main", Name: "<init>", Signature: "()V", File: "Main.java"},
		}, p.JavaMethods); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]decode.JavaThread{
			{ThreadID: 7, Name: "main", Group: "main", FromNS: 10, UntilNS: image.Never},
			{ThreadID: 8, Name: "<worker>", Group: "system", FromNS: 20, UntilNS: 30},
			{ThreadID: 9, UntilNS: 40},
		}, p.JavaThreads); d != "" {
			t.Error(d)
		}
		wantReasons(t, rec, diagnostic.Warning)
	})
}

func TestOverview(t *testing.T) {
	onMachines(t, func(t *testing.T, e *gprofngtest.Experiment) {
		e.Sample(0, 0, "start")
		e.Sample(1000, 1, "periodic")
		e.Overview(0, []int64{0, 100, 50}, []int64{3, 4})
		e.Overview(1000, []int64{1000, 500, 150}, []int64{5, 3})
		e.Overview(2_000_001_000, []int64{2_000_001_000, 600, 150, 1, 2, 3, 4, 5, 6, 7, 2_000_000_000}, []int64{5, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9})
		p := build(t, e).Processes[0]
		want := []decode.OverviewRow{
			{Label: "periodic", T0NS: 0, T1NS: 1000, Times: []int64{1000, 400, 100, 0, 0, 0, 0, 0, 500, 0, 0}, Counts: []int64{2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
			{Label: "<unknown>", T0NS: 1000, T1NS: 2_000_001_000, Times: []int64{2_000_000_000, 100, 0, 1, 2, 3, 4, 5, 6, 7, 2_000_000_000},
				Counts: []int64{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}},
		}
		if d := cmp.Diff(want, p.Overview); d != "" {
			t.Error(d)
		}
		if p.DurationNS != 2_000_001_000 {
			t.Errorf("duration %d", p.DurationNS)
		}
	})
}
