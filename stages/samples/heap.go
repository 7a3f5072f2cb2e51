package samples

import (
	"errors"
	"math"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/ordered"
	"stackmill/internal/spill"
	"stackmill/schema"
	"stackmill/stages/dataspace"
	"stackmill/stages/decode"
)

// The heap operations (gprofng-experiment 3.4).
const (
	opMalloc  = 0
	opFree    = 1
	opRealloc = 2
	opMmap    = 3
	opMunmap  = 4
)

// Heap holds the results of reading all heap events of a process.
type Heap struct {
	Leaks  *Leaks
	Blocks *dataspace.Blocks // nil if not requested
}

// HeapColumns lists the columns of heap events that ReadHeap needs.
var HeapColumns = []string{"time_ns", "operation", "size", "address", "old_address"}

// heapEvents holds the HeapColumns of a batch of events.
type heapEvents struct {
	ops                           []int32
	sizes, addresses, olds, times []int64
}

func newHeapEvents(batch arrow.RecordBatch) heapEvents {
	e := schema.Events{RecordBatch: batch}
	return heapEvents{e.Int32s("operation"), e.Int64s("size"), e.Int64s("address"), e.Int64s("old_address"), e.Int64s("time_ns")}
}

// heapBatch is a batch of events that ReadHeap has read ahead.
type heapBatch struct {
	heapEvents
	events arrow.RecordBatch // nil at the end
	err    error             // the error after which no more events could be read
	freed  []int64           // by event: bytes
}

// set replaces the batch's events, and sets freed to zeros.
func (b *heapBatch) set(e heapEvents) {
	b.heapEvents, b.freed = e, append(b.freed[:0], make([]int64, len(e.ops))...)
}

// heapAhead bounds how many batches ReadHeap reads ahead.
const heapAhead = 4

// ReadHeap reads all heap events of a process, and writes the bytes that each event freed to space.
// If reading fails, the result covers the events before the failure.
func ReadHeap(events decode.EventReader, space *spill.Space, blocks bool) (h *Heap, err error) {
	h = &Heap{Leaks: newLeaks(space)}
	if blocks {
		h.Blocks = &dataspace.Blocks{}
	}
	defer h.Leaks.finish()
	var ended bool         // all events are read
	var failed atomic.Bool // adding a batch failed: read no more, only release the batches already read
	next := func(b *heapBatch) {
		*b = heapBatch{freed: b.freed}
		if ended = ended || failed.Load(); ended {
			return
		}
		if b.events, b.err = events.Next(); b.events == nil || b.err != nil {
			b.events, ended = nil, true
			return
		}
		b.set(newHeapEvents(b.events))
	}
	ordered.Chain(math.MaxInt, heapAhead, []func(*heapBatch){next}, func(b *heapBatch) bool {
		if b.events == nil {
			err = errors.Join(err, b.err)
			return false
		}
		defer b.events.Release()
		if err != nil {
			return true
		}
		if h.Blocks != nil {
			addBlocks(h.Blocks, b.heapEvents)
		}
		err = h.Leaks.add(b)
		failed.Store(err != nil)
		return true
	})
	return h, err
}

func addBlocks(blocks *dataspace.Blocks, e heapEvents) {
	for i, op := range e.ops {
		switch {
		case op == opFree || op == opMunmap:
			blocks.Free(uint64(e.addresses[i]), e.times[i])
		case e.addresses[i] == 0:
		default:
			if op == opRealloc {
				blocks.Free(uint64(e.olds[i]), e.times[i])
			}
			blocks.Allocate(uint64(e.addresses[i]), uint64(e.sizes[i]), e.times[i])
		}
	}
}
