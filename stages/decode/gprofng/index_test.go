package gprofng_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// A file of many blocks, written by two threads in turn, is read like a small one: events come in
// order of time with their stacks, and wrong values and stacks are reported.
func TestManyBlocks(t *testing.T) {
	const n, unknown, tooLarge = 30000, 29990, 29995
	e := newExperiment(t)
	e.Declare(schema.Heap, "")
	e.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/program")
	stacks := []uint64{e.Frame(0x1010, 0x1020), e.Frame(0x1030, 0x1020), e.Frame(0x1040)}
	layout, file := &gprofngtest.Layouts[schema.Heap][0], e.Events(schema.Heap)
	want := map[string][]int64{}
	for i := range n {
		stack, size, number := stacks[i%3], int64(i), int64(i%3)
		read := size
		switch i {
		case unknown:
			stack, number = 12345, 3
		case tooLarge:
			size, read = -1, 0
		}
		file.Put(i%2, layout, gprofngtest.Packet{Thread: int64(1 + i%2), Time: int64(1000 + i), Stack: stack, Values: []int64{0, size, 0x7f00_0000_0000, 0}})
		want["time_ns"] = append(want["time_ns"], int64(1000+i))
		want["raw_stack"] = append(want["raw_stack"], number)
		want["size"] = append(want["size"], read)
	}
	rec := build(t, e)
	got, _ := events(t, rec.Processes[0], schema.Heap, "time_ns", "raw_stack", "size")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	wantReasons(t, rec, diagnostic.Error, "heaptrace:value-out-of-bounds", "heaptrace:missing-stack")
}
