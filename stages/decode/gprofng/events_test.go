package gprofng_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// machines are the byte orders and word sizes that experiments come in.
var machines = []struct {
	arch string
	bits int
}{{"x86_64", 64}, {"i686", 32}, {"sparcv9", 64}, {"sparc", 32}}

func onMachines(t *testing.T, test func(t *testing.T, e *gprofngtest.Experiment)) {
	for _, m := range machines {
		t.Run(m.arch, func(t *testing.T) {
			e := newExperiment(t)
			e.Arch, e.WordBits = m.arch, m.bits
			e.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/program")
			test(t, e)
		})
	}
}

// Every kind and packet type is read in every byte order, also those that today's machines cannot
// record.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		kind   schema.Kind
		layout int
		values []int64
		text   string
		want   map[string][]int64
		names  []string
	}{
		{kind: schema.Clock, values: []int64{10, 1}, want: map[string][]int64{"state": {10}, "ticks": {1}, "omp_state": {-1}}},
		{kind: schema.Clock, layout: 1, values: []int64{3, 0, 0, 0, 0, 0, 0, 7, 0, 1},
			want: map[string][]int64{"state": {0, 7, 9}, "ticks": {3, 7, 1}, "omp_state": {-1, -1, -1}}},
		{kind: schema.Sync, values: []int64{5, 0x7000}, want: map[string][]int64{"requested_ns": {5}, "object": {0x7000}}},
		{kind: schema.Sync, values: []int64{0, 0}, want: map[string][]int64{"requested_ns": {0}, "object": {0}}},
		{kind: schema.IO, values: []int64{2, 3, -1, 6, -1, 23}, text: "/tmp/\xffile",
			want:  map[string][]int64{"operation": {2}, "fd": {3}, "bytes": {-1}, "requested_ns": {6}, "orig_fd": {-1}, "file_system": {23}},
			names: []string{"/tmp/\uFFFDile"}},
		{kind: schema.HWC, values: []int64{1, 1_000_003}, want: map[string][]int64{
			"counter": {1}, "value": {1_000_003}, "data_address": {-1}, "physical_address": {0}, "trigger_pc": {0}, "latency": {0}, "data_source": {0}}},
		{kind: schema.HWC, values: []int64{1, math.MinInt64 + 9}, want: map[string][]int64{
			"counter": {1}, "value": {-1}, "data_address": {-1}, "physical_address": {0}, "trigger_pc": {0}, "latency": {0}, "data_source": {0}}},
		{kind: schema.HWC, layout: 1, values: []int64{2, 7, 0x10, 0x20, 0x30, 0, 44, 5}, want: map[string][]int64{
			"counter": {2}, "value": {7}, "data_address": {0x10}, "physical_address": {0x20}, "trigger_pc": {0x30}, "latency": {44}, "data_source": {5}}},
		{kind: schema.Heap, values: []int64{2, 64, 0x7f00_0000_0040, 0x7f00_0000_0000}, want: map[string][]int64{
			"operation": {2}, "size": {64}, "address": {0x7f00_0000_0040}, "old_address": {0x7f00_0000_0000}}},
		{kind: schema.OMP, values: []int64{1, 2, 3, 4, 5}, want: map[string][]int64{
			"event": {9}, "region": {1}, "parent_region": {2}, "task": {3}, "parent_task": {4}, "region_pc": {5}}},
		{kind: schema.OMP, layout: 4, values: []int64{3, 4}, want: map[string][]int64{
			"event": {16}, "region": {0}, "parent_region": {0}, "task": {3}, "parent_task": {4}, "region_pc": {0}}},
		{kind: schema.Race, values: []int64{1, 12, 0, 0x99, 4}, want: map[string][]int64{
			"race": {12}, "type": {1}, "address": {0x99}, "accesses": {4}}},
		{kind: schema.Deadlock, values: []int64{1, 2, 3, 0x88}, want: map[string][]int64{
			"deadlock": {3}, "lock_type": {1}, "type": {2}, "address": {0x88}}},
	} {
		t.Run(fmt.Sprint(c.kind, c.layout), func(t *testing.T) {
			onMachines(t, func(t *testing.T, e *gprofngtest.Experiment) {
				e.Declare(c.kind, `ptimer="997"`)
				stack := e.Frame(0x1010, 0x1020)
				e.Events(c.kind).Put(0, &gprofngtest.Layouts[c.kind][c.layout], gprofngtest.Packet{
					Thread: 0x9000_0001, CPU: 3, Time: 77, Stack: stack, Values: c.values, Text: c.text})
				p := build(t, e).Processes[0]
				got, names := events(t, p, c.kind)
				rows := len(got["time_ns"])
				for name, v := range map[string]int64{"time_ns": 77, "thread_id": 0x9000_0001, "cpu": 3, "raw_stack": 0, "name_no": 0, "cgroup": -1} {
					c.want[name] = slices.Repeat([]int64{v}, rows)
				}
				if d := cmp.Diff(c.want, got); d != "" {
					t.Error(d)
				}
				if !slices.Equal(names, c.names) {
					t.Errorf("names %q, want %q", names, c.names)
				}
				for name, values := range c.want {
					got, _ := events(t, p, c.kind, name)
					if d := cmp.Diff(values, got[name]); d != "" || c.kind != schema.Clock && len(got) > 1 {
						t.Errorf("column %s by itself: %s, %d columns", name, d, len(got))
					}
				}
				if d := cmp.Diff([]uint64{0x1010, 0x1020}, p.Stacks.Expanded()[0].Words); d != "" {
					t.Error(d)
				}
			})
		})
	}
}

// Threads fill blocks of a file concurrently, out of order, with holes. All events are read in
// order of time; events with equal times are in file order.
func TestTimeOrder(t *testing.T) {
	layout := &gprofngtest.Layouts[schema.Sync][0]
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		e := gprofngtest.New(fmt.Sprintf("%s/%d.er", dir, n))
		e.Declare(schema.Sync, "")
		w := e.Events(schema.Sync)
		if rapid.Bool().Draw(r, "zeros") {
			w.PadWithZeros()
		}
		buffers := rapid.IntRange(1, 5).Draw(r, "buffers")
		count := rapid.IntRange(0, 6000).Draw(r, "packets")
		step := rapid.Int64Range(0, 3).Draw(r, "step")
		disorder := rapid.SampledFrom([]int64{0, 2, 1000}).Draw(r, "disorder")
		skips := rapid.SampledFrom([]uint64{2, 100, 5000}).Draw(r, "skips")
		seed := rapid.Uint64().Draw(r, "seed")
		next := func(n uint64) uint64 { // an xorshift generator: drawing thousands of values would be slow
			seed ^= seed << 13
			seed ^= seed >> 7
			seed ^= seed << 17
			return seed % n
		}
		seed |= 1
		var times []int64
		for i := range count {
			time := int64(i)*step + 2000
			if disorder > 0 {
				time -= int64(next(uint64(disorder)))
			}
			buffer := int(next(uint64(buffers)))
			if next(skips) == 0 {
				w.PutRaw(buffer, []byte{8, 0, 99, 0, 0, 0, 0, 0}) // a type that the log does not describe
			}
			w.Put(buffer, layout, gprofngtest.Packet{Time: time, Values: []int64{0, int64(i)}})
			times = append(times, time)
		}
		rec := build(t, e)
		got, _ := events(t, rec.Processes[0], schema.Sync)
		if len(got["time_ns"]) != count || rec.Processes[0].Records(schema.Sync) != int64(count) {
			r.Fatalf("%d events, %d records, want %d", len(got["time_ns"]), rec.Processes[0].Records(schema.Sync), count)
		}
		if !slices.IsSorted(got["time_ns"]) {
			r.Fatal("events are not in the order of time")
		}
		seen := make([]bool, count)
		for i, object := range got["object"] {
			if seen[object] || times[object] != got["time_ns"][i] {
				r.Fatalf("event %d is not the one recorded", object)
			}
			seen[object] = true
		}
		if again, _ := events(t, rec.Processes[0], schema.Sync); !slices.Equal(again["object"], got["object"]) {
			r.Fatal("a second reader reads something else")
		}
	})
}

// Events of equal time keep the order of the file, also across its blocks.
func TestEqualTimes(t *testing.T) {
	e := newExperiment(t)
	e.Declare(schema.Sync, "")
	w := e.Events(schema.Sync)
	const count = 5000
	for i := range count {
		w.Put(i/2500, &gprofngtest.Layouts[schema.Sync][0], gprofngtest.Packet{Time: 5, Values: []int64{0, int64(i)}})
	}
	got, _ := events(t, build(t, e).Processes[0], schema.Sync)
	if !slices.IsSorted(got["object"]) || len(got["object"]) != count {
		t.Errorf("%d events out of order", len(got["object"]))
	}
}

// Batches end before their strings become too long, and no event is lost then.
func TestLongNames(t *testing.T) {
	e := newExperiment(t)
	e.Declare(schema.IO, "")
	w := e.Events(schema.IO)
	name := strings.Repeat("n", 30_000)
	const count = 2000
	for i := range count {
		w.Put(0, &gprofngtest.Layouts[schema.IO][0], gprofngtest.Packet{Time: int64(i), Values: []int64{2, int64(i)}, Text: name})
	}
	got, names := events(t, build(t, e).Processes[0], schema.IO)
	if len(got["fd"]) != count || !slices.IsSorted(got["fd"]) || names[count-1] != name {
		t.Errorf("%d events with %d names", len(got["fd"]), len(names))
	}
}

// PROF packets make up to ten rows each; batches stay within their size.
func TestManyStates(t *testing.T) {
	e := newExperiment(t)
	e.Declare(schema.Clock, `ptimer="10000" numstates="10"`)
	w := e.Events(schema.Clock)
	const count = 15_000
	for i := range count {
		w.Put(0, &gprofngtest.Layouts[schema.Clock][1], gprofngtest.Packet{Time: int64(i), Values: []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, int64(i % 2)}})
	}
	got, _ := events(t, build(t, e).Processes[0], schema.Clock)
	if n := len(got["state"]); n != 9*count+count/2 {
		t.Errorf("%d rows", n)
	}
}

// Packets without a layout of their own are not decoded, and reported as lost.
func TestNoLayout(t *testing.T) {
	e := newExperiment(t)
	e.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/program")
	e.Declare(schema.Heap, "", gprofngtest.Layout{Type: 5, Fields: []gprofngtest.Field{{Name: "LWPID", Offset: 8, Type: "INT64"}}})
	e.Events(schema.Heap).Put(0, &gprofngtest.Layouts[schema.Heap][0], gprofngtest.Packet{})
	wantReasons(t, build(t, e), diagnostic.Error, "heaptrace:no-layout")
}

// The offsets in the log apply, even if they are not the usual ones.
func TestOtherLayout(t *testing.T) {
	l := gprofngtest.Layout{Type: 5, Size: 44, Fields: []gprofngtest.Field{
		{Name: "HSIZE", Offset: 4, Type: "UINT32"}, {Name: "TSTAMP", Offset: 12, Type: "INT64"}, {Name: "HTYPE", Offset: 40, Type: "INT32"}, {Name: "THRID", Offset: 32, Type: "UINT64"}}}
	e := newExperiment(t)
	e.Declare(schema.Heap, "", l)
	e.Events(schema.Heap).Put(0, &l, gprofngtest.Packet{Thread: 8, Time: 9, Values: []int64{0xFFFF_FFFF, 1}})
	got, _ := events(t, build(t, e).Processes[0], schema.Heap)
	want := map[string][]int64{"time_ns": {9}, "thread_id": {8}, "cpu": {-1}, "raw_stack": {-1}, "name_no": {0}, "cgroup": {-1}, "operation": {1}, "size": {0xFFFF_FFFF}, "address": {0}, "old_address": {0}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A file that becomes shorter while it is read is an error, not a crash.
func TestFileBecomesShorter(t *testing.T) {
	e := newExperiment(t)
	e.Declare(schema.Sync, "")
	for i := range int64(10_000) {
		e.Events(schema.Sync).Put(0, &gprofngtest.Layouts[schema.Sync][0], gprofngtest.Packet{Time: i})
	}
	rec := build(t, e)
	if err := os.Truncate(e.Dir+"/synctrace", 100_000); err != nil {
		t.Fatal(err)
	}
	b, err := rec.Processes[0].Events(schema.Sync).Next()
	if err == nil || !strings.Contains(err.Error(), "synctrace") {
		t.Errorf("%v, %v", b, err)
	}
}
