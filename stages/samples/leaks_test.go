package samples

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"stackmill/internal/spill"
	"stackmill/schema"
)

type heapCall struct {
	op              int32
	size, addr, old uint64
}

func leaksOf(calls []heapCall) (leaked, freed []int64) { return leaksInBatches(calls, len(calls)) }

// leaksInBatches returns the bytes that calls in batches leaked and freed.
func leaksInBatches(calls []heapCall, size int) (leaked, freed []int64) {
	l := newLeaks(spill.FromContext(context.Background()))
	for some := range slices.Chunk(calls, max(size, 1)) {
		var e heapEvents
		for _, c := range some {
			e.ops, e.sizes = append(e.ops, c.op), append(e.sizes, int64(c.size))
			e.addresses, e.olds = append(e.addresses, int64(c.addr)), append(e.olds, int64(c.old))
		}
		var b heapBatch
		b.set(e)
		if err := l.add(&b); err != nil {
			panic(err)
		}
	}
	l.finish()
	for range calls {
		leak, free, err := l.Next(1)
		if err != nil {
			panic(err)
		}
		leaked, freed = append(leaked, leak...), append(freed, free...)
	}
	return leaked, freed
}

func TestLeaks(t *testing.T) {
	const big = 5 << 32
	tests := []struct {
		name          string
		calls         []heapCall
		leaked, freed []int64
	}{
		{"freed", []heapCall{{opMalloc, 10, 1, 0}, {opFree, 0, 1, 0}}, []int64{0, 0}, []int64{0, 10}},
		{"leaked", []heapCall{{opMalloc, 10, 1, 0}, {opMalloc, 20, 2, 0}, {opFree, 0, 2, 0}}, []int64{10, 0, 0}, []int64{0, 0, 20}},
		{"failed malloc", []heapCall{{opMalloc, 10, 0, 0}}, []int64{0}, []int64{0}},
		{"free of an untraced block", []heapCall{{opFree, 0, 7, 0}}, []int64{0}, []int64{0}},
		{"realloc moves", []heapCall{{opMalloc, 10, 1, 0}, {opRealloc, 30, 2, 1}, {opFree, 0, 2, 0}}, []int64{0, 0, 0}, []int64{0, 10, 30}},
		{"realloc in place", []heapCall{{opMalloc, 10, 1, 0}, {opRealloc, 30, 1, 1}}, []int64{0, 30}, []int64{0, 10}},
		{"a failed realloc keeps the block", []heapCall{{opMalloc, 10, 1, 0}, {opRealloc, 1 << 40, 0, 1}}, []int64{10, 0}, []int64{0, 0}},
		{"realloc to nothing frees", []heapCall{{opMalloc, 10, 1, 0}, {opRealloc, 0, 0, 1}}, []int64{0, 0}, []int64{0, 10}},
		{"an address in use again ends the block before", []heapCall{{opMalloc, 10, 1, 0}, {opRealloc, 30, 1, 0}, {opFree, 0, 1, 0}}, []int64{0, 0, 0}, []int64{0, 10, 30}},
		{"more than 4 GiB", []heapCall{{opMalloc, big, 1, 0}, {opMalloc, big, 2, 0}, {opFree, 0, 1, 0}}, []int64{0, big, 0}, []int64{0, 0, big}},
		{"a hole in a mapping", []heapCall{{opMmap, 0x4000, 0x10000, 0}, {opMunmap, 0x1000, 0x11000, 0}}, []int64{0x3000, 0}, []int64{0, 0x1000}},
		{"unmap over two mappings", []heapCall{{opMmap, 0x2000, 0x10000, 0}, {opMmap, 0x2000, 0x12000, 0}, {opMunmap, 0x2000, 0x11000, 0}}, []int64{0x1000, 0x1000, 0}, []int64{0, 0, 0x2000}},
		{"a mapping over an older one", []heapCall{{opMmap, 0x2000, 0x10000, 0}, {opMmap, 0x1000, 0x10000, 0}}, []int64{0x1000, 0x1000}, []int64{0, 0x1000}},
		{"mappings and blocks are apart", []heapCall{{opMmap, 0x1000, 0x10000, 0}, {opFree, 0, 0x10000, 0}}, []int64{0x1000, 0}, []int64{0, 0}},
		{"a mapping that wraps around", []heapCall{{opMmap, math.MaxUint64, 0x10000, 0}}, []int64{0}, []int64{0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			leaked, freed := leaksOf(tt.calls)
			if diff := cmp.Diff(tt.leaked, leaked); diff != "" {
				t.Errorf("leaked: %s", diff)
			}
			if diff := cmp.Diff(tt.freed, freed); diff != "" {
				t.Errorf("freed: %s", diff)
			}
		})
	}
}

// Every byte allocated is either leaked or freed, in any order of calls.
func TestLeaksConserve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.SliceOf(rapid.Custom(func(t *rapid.T) heapCall {
			c := heapCall{op: rapid.Int32Range(0, 4).Draw(t, "op"), size: rapid.Uint64Range(0, 0x3000).Draw(t, "size")}
			c.addr = rapid.Uint64Range(0, 12).Draw(t, "addr") << 12
			if c.op == opRealloc {
				c.old = rapid.Uint64Range(0, 12).Draw(t, "old") << 12
			}
			return c
		})).Draw(t, "calls")
		leaked, freed := leaksOf(calls)
		allocated, accounted := int64(0), int64(0)
		for i, c := range calls {
			if c.addr != 0 && c.op != opFree && c.op != opMunmap {
				allocated += int64(c.size)
			}
			accounted += leaked[i] + freed[i]
		}
		if allocated != accounted {
			t.Fatalf("allocated %d, leaked and freed %d", allocated, accounted)
		}
	})
}

// batchList is an event reader.
type batchList []arrow.RecordBatch

func (b *batchList) Next() (arrow.RecordBatch, error) {
	if len(*b) == 0 {
		return nil, nil
	}
	next := (*b)[0]
	*b = (*b)[1:]
	return next, nil
}

func (*batchList) Close() {}

// When reading or keeping events fails, the events before the failure count, and all batches are
// released.
func TestReadHeapFails(t *testing.T) {
	full := errors.New("full")
	for name, fails := range map[string]struct {
		read  error
		space *spill.Space
	}{
		"reader": {read: errors.New("unreadable"), space: spill.FromContext(t.Context())},
		"space":  {space: spill.New(0, func() (spill.File, error) { return nil, full })},
	} {
		t.Run(name, func(t *testing.T) {
			alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer alloc.AssertSize(t, 0)
			var read batchList
			for n := range 20 {
				events := make([]event, 1<<14)
				for i := range events { // each ends the block before
					events[i] = event{"operation": opMalloc, "size": 1 << 40, "address": 1 + int64(n), "old_address": 0}
				}
				read = append(read, eventBatch(alloc, schema.Heap, events))
			}
			from := &failingReader{read, fails.read}
			heap, err := ReadHeap(from, fails.space, false)
			for _, unread := range from.batchList {
				unread.Release()
			}
			if err == nil || fails.read != nil && err.Error() != fails.read.Error() {
				t.Fatalf("error %v", err)
			}
			if leaked, _, _ := heap.Leaks.Next(1 << 14); fails.read != nil && leaked[1<<14-1] != 1<<40 {
				t.Errorf("the last block of the first batch leaked %d bytes", leaked[1<<14-1])
			}
		})
	}
}

// failingReader reads batches and then fails, if its error is not nil.
type failingReader struct {
	batchList
	err error
}

func (f *failingReader) Next() (arrow.RecordBatch, error) {
	if len(f.batchList) == 0 {
		return nil, f.err
	}
	return f.batchList.Next()
}

// Batches that pass the concurrent steps of ReadHeap have the same result as their calls one by one.
func TestReadHeap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var calls []heapCall
	var read batchList
	for range 20 {
		var events []event
		for range r.IntN(1000) {
			c := heapCall{op: r.Int32N(opMunmap + 1), size: r.Uint64N(0x3000), addr: r.Uint64N(500) << 12, old: r.Uint64N(500) << 12}
			calls = append(calls, c)
			events = append(events, event{"operation": int64(c.op), "size": int64(c.size), "address": int64(c.addr), "old_address": int64(c.old)})
		}
		read = append(read, eventBatch(memory.DefaultAllocator, schema.Heap, events))
	}
	heap, err := ReadHeap(&read, spill.FromContext(t.Context()), false)
	if err != nil {
		t.Fatal(err)
	}
	leaked, freed, err := heap.Leaks.Next(len(calls))
	if err != nil {
		t.Fatal(err)
	}
	wantLeaked, wantFreed := leaksInBatches(calls, 1)
	if diff := cmp.Diff(wantLeaked, leaked); diff != "" {
		t.Errorf("leaked: %s", diff)
	}
	if diff := cmp.Diff(wantFreed, freed); diff != "" {
		t.Errorf("freed: %s", diff)
	}
}
