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

// heapEvents are the columns of a batch of heap events.
type heapEvents struct {
	ops                           []int32
	sizes, addresses, olds, times []int64
}

func heapColumns(batch arrow.RecordBatch) heapEvents {
	e := schema.Events{RecordBatch: batch}
	return heapEvents{e.Int32s("operation"), e.Int64s("size"), e.Int64s("address"), e.Int64s("old_address"), e.Int64s("time_ns")}
}

// FindBlocks returns the blocks in which a process's heap events say that data
// lies. On an error they are those of the events before it.
func FindBlocks(events decode.EventReader) (*dataspace.Blocks, error) {
	blocks := &dataspace.Blocks{}
	err := each(events, func(e heapEvents) error {
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
		return nil
	})
	return blocks, err
}

// FindLeaks runs over all heap events of a process. On an error it knows those
// before it. What it keeps of each event may go to the space.
func FindLeaks(events decode.EventReader, space *spill.Space) (*Leaks, error) {
	l := newLeaks(space)
	err := each(events, l.add)
	l.finish()
	return l, err
}

// each reads heap events to their end.
func each(events decode.EventReader, add func(heapEvents) error) error {
	for {
		batch, err := events.Next()
		if err != nil || batch == nil {
			return err
		}
		err = add(heapColumns(batch))
		batch.Release()
		if err != nil {
			return err
		}
	}
}
