package gprofng

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// first returns the file offset of the run's packet to read first.
func (r *packetRun) first() int {
	if r.order == nil {
		return r.start
	}
	return r.start + int(r.order[0])
}

// cursor is a position in a run.
type cursor struct {
	time   int64
	offset int   // of the packet in the file
	run    int32 // index in eventFile.runs
	next   int32 // index in packetRun.order
}

// never is a cursor that comes after all packets.
var never = cursor{time: math.MaxInt64, offset: math.MaxInt}

// before orders packets by time, then by offset.
func (c *cursor) before(d *cursor) bool {
	if c.time == d.time {
		return c.offset < d.offset
	}
	return c.time < d.time
}

// merger returns the packets of a file in order of time. It has a heap of cursors, one for each run
// that is partly read.
type merger struct {
	file  *eventFile
	times [maxType]field
	first cursor // cursor of the first run that is not begun; never if all are begun
	heap  cursorHeap
	// changed says that a packet is no longer where it was indexed: the file was written to in the
	// meantime.
	changed bool
}

func newMerger(f *eventFile) *merger {
	m := &merger{file: f}
	for typ, l := range f.layouts {
		if l != nil {
			m.times[typ] = l.fields["TSTAMP"]
		}
	}
	m.wait(0)
	return m
}

// wait makes run the first one that is not begun: it sets m.first to the run's start, or to never if
// the file has no such run.
func (m *merger) wait(run int32) {
	m.first = never
	if int(run) < len(m.file.runs) {
		r := &m.file.runs[run]
		m.first = cursor{time: r.min, offset: r.first(), run: run}
	}
}

// next appends the offsets of the next packets, all of the same type, up to the capacity of
// offsets. At the end of the file, it appends none.
func (m *merger) next(offsets []int) []int {
	typ := -1
	for len(offsets) < cap(offsets) {
		m.begin()
		if len(m.heap) == 0 {
			break
		}
		c, rival := m.heap[0], m.rival()
		alive := true
		for alive && len(offsets) < cap(offsets) && c.before(rival) {
			if m.file.mixed {
				t := int(m.typ(c.offset))
				if typ >= 0 && t != typ {
					m.heap[0] = c
					return offsets
				}
				typ = t
			}
			offsets = append(offsets, c.offset)
			alive = m.advance(&c)
		}
		if m.heap[0] = c; alive {
			heap.Fix(&m.heap, 0)
		} else {
			heap.Pop(&m.heap)
		}
	}
	return offsets
}

// begin adds to the heap all runs that may start before the heap's first cursor.
func (m *merger) begin() {
	for m.first != never && (len(m.heap) == 0 || !m.heap[0].before(&m.first)) {
		c := m.first
		m.wait(c.run + 1)
		if m.load(&c) {
			heap.Push(&m.heap, c)
		}
	}
}

// rival returns the cursor that comes second in order of time, after the heap's first.
func (m *merger) rival() *cursor {
	rival := &m.first
	for i := 1; i < min(3, len(m.heap)); i++ {
		if c := &m.heap[i]; c.before(rival) {
			rival = c
		}
	}
	return rival
}

// advance moves a cursor to the next packet of its run. It returns false at the end of the run.
func (m *merger) advance(c *cursor) bool {
	f, r := m.file, &m.file.runs[c.run]
	if r.order == nil {
		c.offset += int(f.order.u16(f.Data[c.offset:]))
		if c.offset >= r.end {
			m.changed = m.changed || c.offset > r.end
			return false
		}
	} else {
		c.next++
		if int(c.next) == len(r.order) {
			return false
		}
		c.offset = r.start + int(r.order[c.next])
	}
	return m.load(c)
}

// load reads the time of a cursor's packet, or returns false if the indexed packet is gone.
func (m *merger) load(c *cursor) bool {
	f := m.file
	packet := f.Data[c.offset:]
	if len(packet) < packetHeader {
		m.changed = true
		return false
	}
	size, typ := f.order.u16(packet), f.order.u16(packet[2:])
	if typ >= maxType || f.layouts[typ] == nil || min(int(size), len(packet)) < f.layouts[typ].need {
		m.changed = true
		return false
	}
	c.time = f.facts.time(m.times[typ].get(packet, f.order), c.time)
	return true
}

func (m *merger) typ(offset int) uint16 { return m.file.order.u16(m.file.Data[offset+2:]) }

// cursorHeap implements heap.Interface.
type cursorHeap []cursor

func (h cursorHeap) Len() int           { return len(h) }
func (h cursorHeap) Less(i, j int) bool { return h[i].before(&h[j]) }
func (h cursorHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *cursorHeap) Push(x any)        { *h = append(*h, x.(cursor)) }

func (h *cursorHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// packetRun is a part of an event file whose packets are read in order of time. Threads fill
// blocks of the file concurrently, so a file consists of many runs that overlap in time.
type packetRun struct {
	min   int64    // minimum time of the packets
	start int      // offset of the first packet in the file
	end   int      // offset of the end of the last packet
	order []uint32 // offsets of packets relative to start, in reading order; nil: file order
}

// The size of runs. A run ends where the next packet is earlier or does not follow directly. If it
// has fewer than minRun packets there, it goes on, up to maxRun packets, and needs an order.
const (
	minRun     = 256
	maxRun     = 1024
	maxRunSpan = 1 << 30 // bytes; packetRun.order has 32-bit offsets
)

// runBuilder divides the packets of a file into runs.
type runBuilder struct {
	runs []packetRun

	run   packetRun // the current run
	count int
	last  int64
	loose bool // the run's packets are out of order, so it needs packetRun.order
	// The offsets and times of the run's packets, recorded only while the run may need an order.
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

// flush ends the current run. If its packets are not in order of time, it computes the order.
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

// finish returns the runs, sorted by their first time, then by their offset.
func (b *runBuilder) finish() []packetRun {
	if b.count > 0 {
		b.flush()
	}
	slices.SortStableFunc(b.runs, func(x, y packetRun) int { return cmp.Compare(x.min, y.min) })
	return b.runs
}
