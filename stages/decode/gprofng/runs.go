package gprofng

import (
	"cmp"
	"slices"
)

// A run is a piece of an event file whose packets are read in the order of
// their time. Threads fill blocks of the file side by side, so a file is many
// runs that overlap in time.
type run struct {
	min   int64    // time of the first packet to read
	start int      // offset of the first packet in the file
	end   int      // where the last one ends
	order []uint32 // packets relative to start in reading order; nil: one after the other
}

// The size of runs: one shorter than minRun packets is joined with what follows, even
// out of order or after a gap, up to maxRun packets.
const (
	minRun     = 256
	maxRun     = 1024
	maxRunSpan = 1 << 30 // bytes, so that order can hold it
)

// runBuilder makes runs of the packets of a file.
type runBuilder struct {
	runs []run

	run   run // being made
	count int
	last  int64
	loose bool // the run needs an order
	// The packets of the run, as long as it may need an order.
	offsets []int
	times   []int64
}

// add adds a packet; gap says that it does not directly follow the one before.
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
		b.run = run{min: time, start: offset}
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

// finish returns the runs by their first time, then by their place in the file.
func (b *runBuilder) finish() []run {
	if b.count > 0 {
		b.flush()
	}
	slices.SortStableFunc(b.runs, func(x, y run) int { return cmp.Compare(x.min, y.min) })
	return b.runs
}
