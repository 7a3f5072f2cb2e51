package unwind

import (
	"errors"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cfi"
)

// dumpList hands out stack dumps, and becomes unreadable at the end if err says so.
type dumpList struct {
	list []decode.StackDump
	err  error
}

func (d *dumpList) Guard(f func()) error { f(); return d.err }

func (d *dumpList) Next() *decode.StackDump {
	if len(d.list) == 0 {
		return nil
	}
	next := &d.list[0]
	d.list = d.list[1:]
	return next
}

// Stacks of dumps are numbered after those that were recorded, equal ones once, and
// events refer to them afterwards.
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
	walk := func(d *decode.StackDump) *cfi.Stack {
		pc := d.Recorded.Words[d.Recorded.Kernel]
		return &cfi.Stack{Words: []uint64{pc, pc + 0x100}}
	}
	p := &decode.Process{Stacks: decode.StacksOf(decode.RawStack{Words: []uint64{0x5}}, chained)}
	p.Dumps = func() decode.DumpReader { return &dumpList{list: list} }
	done, err := Complete(p, walk)
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
	p.Dumps = func() decode.DumpReader { return &dumpList{err: gone} }
	if _, err := Complete(p, walk); !errors.Is(err, gone) {
		t.Error(err)
	}
}
