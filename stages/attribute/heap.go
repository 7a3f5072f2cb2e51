package attribute

import (
	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/dataspace"
	"stackmill/stages/decode"
	"stackmill/stages/spill"
)

// The heap operations (gprofng-experiment 3.4).
const (
	opMalloc  = 0
	opFree    = 1
	opRealloc = 2
	opMmap    = 3
	opMunmap  = 4
)

// Heap is what only all heap events of a process show.
type Heap struct {
	Leaks  *Leaks
	Blocks *dataspace.Blocks // where data lies; nil if nobody wants to know
}

// HeapColumns are the columns of heap events that ReadHeap needs.
var HeapColumns = []string{"time_ns", "operation", "size", "address", "old_address"}

// heapEvents are these columns of a batch.
type heapEvents struct {
	ops                           []int32
	sizes, addresses, olds, times []int64
}

func heapColumns(batch arrow.RecordBatch) heapEvents {
	e := schema.Events{RecordBatch: batch}
	return heapEvents{e.Int32s("operation"), e.Int64s("size"), e.Int64s("address"), e.Int64s("old_address"), e.Int64s("time_ns")}
}

// ReadHeap runs over all heap events of a process. On an error it knows those
// before it. What it keeps of each event may go to the space.
func ReadHeap(events decode.EventReader, space *spill.Space, blocks bool) (*Heap, error) {
	h := &Heap{Leaks: newLeaks(space)}
	if blocks {
		h.Blocks = &dataspace.Blocks{}
	}
	defer h.Leaks.finish()
	for {
		batch, err := events.Next()
		if err != nil || batch == nil {
			return h, err
		}
		err = h.add(heapColumns(batch))
		batch.Release()
		if err != nil {
			return h, err
		}
	}
}

func (h *Heap) add(e heapEvents) error {
	if h.Blocks != nil {
		addBlocks(h.Blocks, e)
	}
	return h.Leaks.add(e)
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
