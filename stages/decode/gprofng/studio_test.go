package gprofng_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// allKinds composes an experiment with all kinds of data and a descendant. Enough events
// to fill several blocks of either size.
func allKinds(t *testing.T, form gprofngtest.Form, bits int) *gprofngtest.Experiment {
	e := gprofngtest.NewIn(form, filepath.Join(t.TempDir(), "all.er"))
	e.WordBits, e.Command, e.WorkingDirectory = bits, `/home/me/my prog <"a" & 'b'>`, "/home/me & you"
	d := e.Descendant("_x1", 1_000_000)
	d.Command = "/bin/sh -c x"
	for n, p := range []*gprofngtest.Experiment{e, d} {
		p.Segment(0, 0x400000, 0x1000, 0, 1, "/home/me/prog")
		p.Segment(0, 0x401000, 0x1000, 0x1000, 5, "/home/me/prog")
		p.Segment(0, 0x402000, 0x1000, 0x2000, 3, "/home/me/prog")
		p.Segment(0, 0x403000, 0x1000, 0, 11, "/home/me/shm")
		p.Segment(0, 0x404000, 0x1000, 0, 0, "/home/me/prog")
		p.DynamicFunction("[vdso]", "gettimeofday", 0x500010, 16)
		p.Function(0, 0x500000, 0x1000, "[vdso]")
		p.Sample(0, 0, "collector_open_experiment")
		for kind := range gprofngtest.Kinds {
			layouts := p.Layouts(kind)[:1]
			attrs := ""
			if kind == schema.Clock {
				attrs = `ptimer="10007" numstates="1"`
			}
			p.Declare(kind, attrs, layouts...)
			for i := range int64(2000) {
				values := []int64{1, i % 7, 3, 4, 5}
				if kind == schema.Clock {
					values = []int64{10, 1}
					if form == gprofngtest.Studio123 {
						values[0] = 0
					}
				}
				// Stacks share fragments, including stacks of other kinds of events.
				stack := p.FrameWith(0, gprofngtest.Native(0x401000+uint64(i%100), 0x401800+uint64(n), 0x401900))
				p.Events(kind).Put(0, &layouts[0], gprofngtest.Packet{Thread: 1000 + i%3, CPU: int32(i % 2), Time: 1000 * i, Stack: stack, Values: values, Text: "file"})
			}
		}
	}
	return e
}

// description is what a recording says, independent of the collector that wrote it.
type description struct {
	Process  []string
	Events   []map[string][]int64
	Names    [][]string
	Image    [][]decode.MapEvent
	Problems []string
	Other    []any
}

func describe(t *testing.T, rec *decode.Recording) (d description) {
	d.Other = []any{rec.Host, rec.OS, rec.Arch, rec.CPUs, rec.ClockMHz, rec.PageSize, rec.WordBits, rec.Started}
	for _, p := range rec.Processes {
		d.Process = append(d.Process, fmt.Sprint(p.Number, p.Lineage, p.PID, p.PPID, p.Target, p.Command, p.Directory, p.Closed, p.StartNS, p.DurationNS, p.Kinds))
		for kind := range gprofngtest.Kinds {
			columns, names := events(t, p, kind)
			d.Events, d.Names = append(d.Events, columns), append(d.Names, names)
		}
		image := slices.Clone(p.Mappings)
		for i := range image {
			image[i].Checksum = 0
		}
		d.Image = append(d.Image, image)
	}
	d.Problems = reasons(rec, diagnostic.Info)
	return d
}

// The experiments of all collectors yield the same processes, events of each kind and mappings, for
// both word sizes.
func TestForms(t *testing.T) {
	for _, bits := range []int{64, 32} {
		want := describe(t, build(t, allKinds(t, gprofngtest.Gprofng, bits)))
		if slices.ContainsFunc(want.Events, func(c map[string][]int64) bool { return len(c["thread_id"]) != 2000 && len(c) > 0 }) || len(want.Process) != 2 {
			t.Errorf("%d bits: %v", bits, want.Process)
		}
		for _, form := range gprofngtest.Forms[1:] {
			got := describe(t, build(t, allKinds(t, form, bits)))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%v, %d bits: %.3000s", form, bits, diff)
			}
		}
	}
}

// In the old format all threads share a block, and a block that is not full may be anywhere.
func TestOldBlocks(t *testing.T) {
	const block = 1 << 14
	make := func(threads int64) *gprofngtest.Experiment {
		e := gprofngtest.NewIn(gprofngtest.Studio123, filepath.Join(t.TempDir(), "old.er"))
		e.Segment(0, 0x401000, 0x1000, 0x1000, 5, "/bin/a")
		layout := e.Layouts(schema.Clock)[:1]
		e.Declare(schema.Clock, `ptimer="10007" numstates="1"`, layout...)
		for i := range int64(1000) {
			e.Events(schema.Clock).Put(int(i/400), &layout[0], gprofngtest.Packet{Thread: 0x7fa400000000 + i%threads*0x1000, Time: i * 1000, Stack: e.Frame(0x401000 + uint64(i)), Values: []int64{0, 1}})
		}
		return e
	}
	for _, threads := range []int64{1, 5, 33} {
		rec := build(t, make(threads))
		wantReasons(t, rec, diagnostic.Warning)
		if columns, _ := events(t, rec.Processes[0], schema.Clock); len(columns["state"]) != 1000 || slices.ContainsFunc(columns["state"], func(s int64) bool { return s != 10 }) {
			t.Errorf("%d threads: %d events", threads, len(columns["state"]))
		}
	}
	for _, size := range []int{block + 100, block, 2*block + 56, 5} {
		e := make(5)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(e.Dir, "profile"), int64(size)); err != nil {
			t.Fatal(err)
		}
		if rec := open(t, e.Dir); rec.Problems.Errors() == 0 {
			t.Errorf("nothing is said of a file cut to %d bytes", size)
		}
	}
}

// The mappings themselves show what modes mean. Only if they do not, the collector's name decides.
func TestModes(t *testing.T) {
	const gprofngs, studios = "2.40.00", "Studio 12.6 Performance Analyzer"
	for _, c := range []struct {
		collector string
		written   []int
		want      []int
		reasons   []string
	}{
		{gprofngs, []int{1, 5, 3}, []int{1, 5, 3}, nil},
		{studios, []int{4, 5, 6, 0, 14}, []int{1, 5, 3, 0, 11}, nil},
		{gprofngs, []int{5, 7, 0}, []int{5, 7, 0}, nil},
		{studios, []int{5, 7, 0}, []int{5, 7, 0}, nil},
		{"", []int{4, 5, 6}, []int{1, 5, 3}, nil},
		{"", []int{1, 5, 3}, []int{1, 5, 3}, nil},
		{gprofngs, []int{1, 5, 4}, []int{1, 5, 4}, nil}, // code that cannot be read
		{studios, []int{4, 5, 1}, []int{1, 5, 4}, nil},
		{gprofngs, []int{4, 5, 6}, []int{1, 5, 3}, []string{"map.xml:contradicting-modes"}},
		{studios, []int{1, 5, 3}, []int{1, 5, 3}, []string{"map.xml:contradicting-modes"}},
	} {
		e := newExperiment(t)
		e.Collector = c.collector
		for i, modes := range c.written {
			e.Segment(0, uint64(0x10000+0x1000*i), 0x1000, 0, modes, "/bin/a")
		}
		rec := build(t, e)
		wantReasons(t, rec, diagnostic.Warning, c.reasons...)
		var got []int
		for _, m := range rec.Processes[0].Mappings {
			got = append(got, m.Modes)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q, modes %v: %v, want %v", c.collector, c.written, got, c.want)
		}
	}
	e := gprofngtest.NewIn(gprofngtest.Studio126, filepath.Join(t.TempDir(), "none.er"))
	wantReasons(t, build(t, e), diagnostic.Warning)
}

// A missing map is a loss only if there are events; missing call stacks are a loss only if events
// refer to them. A killed process may have recorded a stack but not its event.
func TestProofOfLoss(t *testing.T) {
	for _, c := range []struct {
		name            string
		mapped, event   bool
		stacks          int
		closed, noStack bool
		want            []string
	}{
		{"nothing", false, false, 0, true, false, nil},
		{"no map", false, true, 1, true, false, []string{"map.xml:empty-file"}},
		{"all", true, true, 1, true, false, nil},
		{"an event without a stack", true, true, 0, true, true, nil},
		{"stacks without events", true, false, 1, true, false, []string{"profile:missing-events"}},
		{"a killed process", true, false, 2, false, false, nil},
		{"a killed process that lost more", true, false, 3, false, false, []string{"profile:missing-events"}},
	} {
		e := newExperiment(t)
		e.Unclosed = !c.closed
		if c.mapped {
			e.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/a")
		}
		e.Declare(schema.Clock, `ptimer="997" numstates="1"`, gprofngtest.Layouts[schema.Clock][0])
		var stack uint64
		for i := range c.stacks {
			stack = e.Frame(uint64(0x1000 + i))
		}
		if c.event {
			e.Events(schema.Clock).Put(0, &gprofngtest.Layouts[schema.Clock][0], gprofngtest.Packet{Thread: 1, Stack: stack, Values: []int64{10, 1}})
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if c.noStack {
			if err := os.Remove(filepath.Join(e.Dir, "data.frameinfo")); err != nil {
				t.Fatal(err)
			}
		}
		if got := reasons(open(t, e.Dir), diagnostic.Error); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// The files that a collector maps to write them are not code, whatever their protection.
func TestOwnFilesAreNoCode(t *testing.T) {
	for _, form := range gprofngtest.Forms {
		e := gprofngtest.NewIn(form, filepath.Join(t.TempDir(), "own.er"))
		paths := []string{"/home/me/a.er/log.xml", "/home/me/a.er/_f1.er/profile", "/home/me/a.er/data.frameinfo", "/home/me/profile", "/home/me/a.er/archives/x", "/a.er/lib.so"}
		for i, path := range paths {
			e.Segment(0, uint64(0x10000+0x1000*i), 0x1000, 0, 15, path)
		}
		e.Segment(0, 0x1000, 0x1000, 0, 1, "/bin/a")
		for i, m := range build(t, e).Processes[0].Mappings[:len(paths)] {
			if code := m.Modes&4 != 0; code != (i >= 3) {
				t.Errorf("%v: %s is code: %v", form, m.Path, code)
			}
		}
	}
}

// A problem reports thread ids that are addresses.
func TestThreadAddresses(t *testing.T) {
	for thread, want := range map[int64][]string{1234: nil, 1 << 22: nil, 0xf7d4b700: {"log.xml:thread-addresses"}, 0x7fa41ea77700: {"log.xml:thread-addresses"}} {
		e := gprofngtest.NewIn(gprofngtest.Studio123, filepath.Join(t.TempDir(), "threads.er"))
		e.Segment(0, 0x401000, 0x1000, 0x1000, 5, "/bin/a")
		layout := e.Layouts(schema.Clock)[:1]
		e.Declare(schema.Clock, `ptimer="10007" numstates="1"`, layout...)
		e.Overview(0, nil, nil)
		e.Events(schema.Clock).Put(0, &layout[0], gprofngtest.Packet{Thread: thread, Stack: e.Frame(0x401000), Values: []int64{0, 1}})
		got := slices.DeleteFunc(reasons(build(t, e), diagnostic.Info), func(r string) bool { return r != "log.xml:thread-addresses" })
		if !slices.Equal(got, want) {
			t.Errorf("thread %#x: %v", thread, got)
		}
	}
}

// The PID identifies a descendant's process; a call that made no process announces no descendant.
func TestStudioDescendants(t *testing.T) {
	e := gprofngtest.NewIn(gprofngtest.Studio126, filepath.Join(t.TempDir(), "mpi.er"))
	e.Segment(0, 0x401000, 0x1000, 0x1000, 5, "/bin/a")
	e.Log(`<event kind="desc_start" tstamp="0.1" variant="grantpt" lineage="XXX" follow="1" msg="/usr/lib/pt_chmod"/>`)
	e.Log(`<event kind="desc_started" tstamp="0.1" variant="grantpt" lineage="XXX" follow="1" msg="rc=0"/>`)
	e.Log(`<event kind="desc_started" tstamp="0.1" variant="fork" lineage="_f1" follow="1" msg="rc=0"/>`)
	forked, executed := e.Descendant("_f1", 10), e.Descendant("_x1", 20)
	executed.PID = forked.PID
	executed.Segment(0, 0x401000, 0x1000, 0x1000, 5, "/bin/b")
	executed.Frame(0x401000)
	rec := build(t, e)
	wantReasons(t, rec, diagnostic.Warning)
	if len(rec.Processes) != 2 || rec.Processes[1].Lineage != "_x1" || rec.Processes[1].PID != forked.PID {
		t.Errorf("%d processes", len(rec.Processes))
	}
}

// An archive holds copies of load objects, or symbol tables. A table with the name of another one
// is found by the path in it.
func TestArchivedSymbols(t *testing.T) {
	e := gprofngtest.NewIn(gprofngtest.Studio123, filepath.Join(t.TempDir(), "a.er"))
	table := gprofngtest.SymbolTable("/no/such/b", 1, 0x1000)
	e.Archive("/no/such/a", []byte("copy"))
	e.ArchiveSymbols("/no/such/a", table)
	e.ArchiveSymbols("/no/such/c", table)
	e.WriteFile("archives/other.0123456789a", []byte("no table"))
	rec := build(t, e)
	folder, err := filepath.EvalSymlinks(filepath.Join(e.Dir, "archives"))
	if err != nil {
		t.Fatal(err)
	}
	for object, want := range map[string][]string{
		"/no/such/a":     {"a_", "a."},
		"/no/such/b":     {""},
		"/no/such/c":     {"c."},
		"/no/such/other": nil,
	} {
		got := rec.Locate(object)
		if len(got) != len(want) {
			t.Errorf("%s: %v", object, got)
			continue
		}
		for i, c := range got {
			if c.Origin != "archive" || filepath.Dir(c.Path) != folder || want[i] != "" && filepath.Base(c.Path)[:len(want[i])] != want[i] {
				t.Errorf("%s: %v", object, got)
			}
		}
	}
	files, err := gprofng.New().Files(e.Dir)
	if err != nil || slices.Contains(files, "er_archive.log") {
		t.Errorf("%v, %v", files, err)
	}
}
