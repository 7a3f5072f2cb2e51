package gprofng

import (
	"cmp"
	"slices"
)

// packetRun is a part of an event file whose packets are read in order of time. Threads fill
// blocks of the file concurrently, so a file consists of many runs that overlap in time.
type packetRun struct {
	min   int64    // time of the first packet to read
	start int      // offset of the first packet in the file
	end   int      // where the last one ends
	order []uint32 // offsets of packets relative to start, in reading order; nil: file order
}

// The size of runs: a run shorter than minRun packets is joined with what follows, even out of
// order or after a gap, up to maxRun packets.
const (
	minRun     = 256
	maxRun     = 1024
	maxRunSpan = 1 << 30 // bytes, so that order can hold it
)

// runBuilder divides the packets of a file into runs.
type runBuilder struct {
	runs []packetRun

	run   packetRun // being made
	count int
	last  int64
	loose bool // the run needs an order
	// The packets of the run, while it may need an order.
	offsets []int
	times   []int64
}

// add adds a packet; gap says that it does not directly follow the previous one.
func (b *runBuilder) add(offset, size int, time int64, gap bool) {
	switch {
	case b.count == 0:
	case b.loose:
		if b.count >= maxRun || offset-b.run.start >= maxRunSpan {
			b.flush()
		}
	case gap || time < b.last:
		if b.count < minRun && offset-b.run.start < maxRunSpan {
			b.loose = true
		} else {
			b.flush()
		}
	}
	if b.count == 0 {
		b.run = packetRun{min: time, start: offset}
	}
	if b.loose || b.count < minRun {
		b.offsets = append(b.offsets, offset)
		b.times = append(b.times, time)
	}
	b.count++
	b.last = time
	b.run.min = min(b.run.min, time)
	b.run.end = offset + size
}

// flush ends a run.
func (b *runBuilder) flush() {
	if b.loose {
		order := make([]int, b.count)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int {
			return cmp.Or(cmp.Compare(b.times[i], b.times[j]), i-j)
		})
		b.run.order = make([]uint32, b.count)
		for i, n := range order {
			b.run.order[i] = uint32(b.offsets[n] - b.run.start)
		}
	}
	b.runs = append(b.runs, b.run)
	b.count, b.loose, b.offsets, b.times = 0, false, b.offsets[:0], b.times[:0]
}

// finish returns the runs by their first time, then by their offset.
func (b *runBuilder) finish() []packetRun {
	if b.count > 0 {
		b.flush()
	}
	slices.SortStableFunc(b.runs, func(x, y packetRun) int { return cmp.Compare(x.min, y.min) })
	return b.runs
}
