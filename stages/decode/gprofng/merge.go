package gprofng

import "math"

// first returns the offset of the packet to read first.
func (r *run) first() int {
	if r.order == nil {
		return r.start
	}
	return r.start + int(r.order[0])
}

// cursor is a place in a run.
type cursor struct {
	time   int64
	offset int // of the packet in the file
	run    *run
	next   int // index into run.order
}

// before orders packets by time, then by place in the file.
func (c *cursor) before(time int64, offset int) bool {
	return c.time < time || c.time == time && c.offset < offset
}

// merger delivers the packets of a file in the order of their time. It holds a
// cursor for each run that has begun and not ended, in a heap.
type merger struct {
	file  *eventFile
	times [maxType]field
	runs  []run // not begun
	heap  []cursor
	// changed says that a packet has disappeared: the file was written to after it was
	// indexed.
	changed bool
}

func newMerger(f *eventFile) *merger {
	m := &merger{file: f, runs: f.runs}
	for typ, l := range f.layouts {
		if l != nil {
			m.times[typ] = l.fields["TSTAMP"]
		}
	}
	return m
}

// next appends the offsets of the next packets, all of one type, until offsets is full.
// At the end it appends none.
func (m *merger) next(offsets []int) []int {
	typ := -1
	for len(offsets) < cap(offsets) {
		m.begin()
		if len(m.heap) == 0 {
			break
		}
		time, offset := m.rival()
		c := &m.heap[0]
		alive := true
		for alive && len(offsets) < cap(offsets) && c.before(time, offset) {
			if m.file.mixed {
				t := int(m.typ(c.offset))
				if typ >= 0 && t != typ {
					return offsets
				}
				typ = t
			}
			offsets = append(offsets, c.offset)
			alive = m.advance(c)
		}
		if !alive {
			last := len(m.heap) - 1
			m.heap[0] = m.heap[last]
			m.heap = m.heap[:last]
		}
		m.down(0)
	}
	return offsets
}

// begin puts runs that begin before the first cursor into the heap.
func (m *merger) begin() {
	for len(m.runs) > 0 {
		r := &m.runs[0]
		c := cursor{time: r.min, offset: r.first(), run: r}
		if len(m.heap) > 0 && m.heap[0].before(c.time, c.offset) {
			return
		}
		m.runs = m.runs[1:]
		if m.load(&c) {
			m.heap = append(m.heap, c)
			m.up(len(m.heap) - 1)
		}
	}
}

// rival returns the time and place up to which the first cursor is the first.
func (m *merger) rival() (time int64, offset int) {
	time, offset = math.MaxInt64, math.MaxInt
	for i := 1; i < min(3, len(m.heap)); i++ {
		if c := &m.heap[i]; c.before(time, offset) {
			time, offset = c.time, c.offset
		}
	}
	if len(m.runs) > 0 {
		r := &m.runs[0]
		if first := r.first(); r.min < time || r.min == time && first < offset {
			time, offset = r.min, first
		}
	}
	return time, offset
}

// advance moves a cursor to the next packet of its run; false at its end.
func (m *merger) advance(c *cursor) bool {
	f, r := m.file, c.run
	if r.order == nil {
		c.offset += int(f.order.u16(f.Data[c.offset:]))
		if c.offset >= r.end {
			m.changed = m.changed || c.offset > r.end
			return false
		}
	} else {
		c.next++
		if c.next == len(r.order) {
			return false
		}
		c.offset = r.start + int(r.order[c.next])
	}
	return m.load(c)
}

// load reads the time of the packet at a cursor; false if it is no longer the packet
// that was indexed.
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

func (m *merger) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !m.heap[i].before(m.heap[parent].time, m.heap[parent].offset) {
			return
		}
		m.heap[i], m.heap[parent] = m.heap[parent], m.heap[i]
		i = parent
	}
}

func (m *merger) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m.heap); child++ {
			if m.heap[child].before(m.heap[least].time, m.heap[least].offset) {
				least = child
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}
