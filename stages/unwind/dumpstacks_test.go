package unwind

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cfi"
)

// dumpList is a list of stack dumps. With err set, it fails at the end.
type dumpList struct {
	list []decode.StackDump
	err  error
}

func (d *dumpList) Len() int                          { return len(d.list) }
func (d *dumpList) Guard(f func()) error              { f(); return d.err }
func (d *dumpList) Reader() decode.DumpReader         { return d }
func (d *dumpList) Dump(number int) *decode.StackDump { return &d.list[number] }

// callersOf is a walker that reports how many dumps it unwound.
type callersOf struct {
	asked    int
	reported *[]int
}

// Unwind implements Walker: each program counter has one caller.
func (c *callersOf) Unwind(d *decode.StackDump) *cfi.Stack {
	c.asked++
	pc := d.Recorded.Words[d.Recorded.Kernel]
	return &cfi.Stack{Words: []uint64{pc, pc + 0x100}}
}

func (c *callersOf) Report() func() {
	asked := c.asked
	c.asked = 0
	return func() { *c.reported = append(*c.reported, asked) }
}

// walkers returns a function that makes walkers, which report to reported.
func walkers(reported *[]int) func(n int) []Walker {
	return func(n int) (list []Walker) {
		for range n {
			list = append(list, &callersOf{reported: reported})
		}
		return list
	}
}

// Stacks of dumps get numbers after the recorded ones, equal stacks the same one, and events
// refer to them.
func TestComplete(t *testing.T) {
	dump := func(leaf, pc uint64) decode.StackDump {
		return decode.StackDump{Leaf: leaf, Known: 1, Recorded: decode.RawStack{Kernel: 1, Words: []uint64{1 << 63, pc}, Callers: decode.CallersUnwound}}
	}
	chained := decode.RawStack{Words: []uint64{0x10, 0x20}, Callers: decode.CallersChained}
	bad := dump(0x7, 0x8)
	bad.Recorded.Kernel, bad.Recorded.Words, bad.Reason = 0, bad.Recorded.Words[1:], decode.ReasonMachine
	list := []decode.StackDump{
		dump(0x1, 0x2), dump(0x1, 0x3), dump(0x1, 0x2), bad,
		{Recorded: chained},           // nothing to unwind
		{Recorded: chained, Known: 1}, // the return register has a caller
	}
	p := &decode.Process{Stacks: decode.StacksOf(decode.RawStack{Words: []uint64{0x5}}, chained)}
	p.Dumps = &dumpList{list: list}
	var reported []int
	done, err := Complete(p, walkers(&reported))
	if err != nil {
		t.Fatal(err)
	}
	var stacks []string
	for _, s := range done.Stacks.Expanded() {
		stacks = append(stacks, fmt.Sprintf("%#x %s", s.Words, s.Reason))
	}
	want := []string{
		"[0x5] ", "[0x10 0x20] ", "[0x8000000000000000 0x2 0x102] ", "[0x8000000000000000 0x3 0x103] ",
		"[0x7 0xfffffffffffffffe] other-machine", "[0x10 0xffffffffffffffff 0x110 0x20] ",
	}
	if d := cmp.Diff(want, stacks); d != "" {
		t.Error(d)
	}

	alloc := arrowmem.NewCheckedAllocator(arrowmem.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	b := array.NewRecordBuilder(alloc, schema.EventSchema(schema.Race))
	defer b.Release()
	raw := []int32{-1, 0, 1}
	for n := range list {
		raw = append(raw, decode.StackOfDump(n))
	}
	for i := range b.Fields() {
		for _, n := range raw {
			switch f := b.Field(i).(type) {
			case *array.Int32Builder:
				f.Append(n)
			case *array.Int64Builder:
				f.Append(0)
			}
		}
	}
	events := done.Events(b.NewRecordBatch())
	defer events.Release()
	if d := cmp.Diff([]int32{-1, 0, 1, 2, 3, 2, 4, 1, 5}, events.Column(schema.EventStack).(*array.Int32).Int32Values()); d != "" {
		t.Error(d)
	}

	gone := errors.New("gone")
	p.Dumps = &dumpList{err: gone}
	if _, err := Complete(p, walkers(&reported)); !errors.Is(err, gone) {
		t.Error(err)
	}
}

// Stacks and reports keep the order of the dumps, whatever the number of processors.
func TestCompleteInOrder(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
	list := make([]decode.StackDump, 20*dumpsPerPiece+3)
	for n := range list {
		list[n].Known, list[n].Leaf, list[n].Recorded = 1, decode.NoAddress, decode.RawStack{Words: []uint64{uint64(n)}, Callers: decode.CallersUnwound}
	}
	var reported []int
	p := &decode.Process{Stacks: &decode.Stacks{}, Dumps: &dumpList{list: list}}
	done, err := Complete(p, walkers(&reported))
	if err != nil {
		t.Fatal(err)
	}
	for n, number := range done.dumps {
		if word, _, _ := done.Stacks.Node(done.Stacks.Leaf(number)); int(number) != n || word != uint64(n) {
			t.Fatalf("dump %d: stack %d, %#x", n, number, word)
		}
	}
	if want := append(slices.Repeat([]int{dumpsPerPiece}, 20), 3); !slices.Equal(reported, want) {
		t.Error(reported)
	}
}
