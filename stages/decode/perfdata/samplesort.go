package perfdata

import (
	"container/heap"
)

// sort sorts the samples by time, then location, and reports whether they were sorted. It first
// applies the corrected times in moved.
func (l *sampleRefs) sort(moved map[recordOffset]uint64) (ordered bool) {
	l.timeSummary = l.span(moved)
	ordered = !l.disordered
	l.runs = []int{0}
	if ordered && len(moved) == 0 {
		return true
	}
	l.runs = nil
	each := min(max(1, l.inMemory()/refsPerChunk), len(l.chunks))
	room := make([]sampleRef, 0, each*refsPerChunk)
	for from := 0; from < len(l.chunks); from += each {
		l.runs = append(l.runs, from)
		l.sortRun(room, from, min(from+each, len(l.chunks)), moved)
	}
	return ordered
}

// span summarizes the times of all samples, with the corrected ones.
func (l *sampleRefs) span(moved map[recordOffset]uint64) (all timeSummary) {
	if len(moved) > 0 {
		n := 0
		for part := range l.all() {
			for _, m := range part {
				all.add(m.movedTo(moved), n == 0)
				n++
			}
		}
		return all
	}
	all.earliest = noTime
	for i := range l.chunks {
		p := &l.chunks[i]
		all.disordered = all.disordered || p.disordered || p.first < all.latest
		all.untimed = all.untimed || p.untimed
		all.earliest, all.latest = min(all.earliest, p.earliest), max(all.latest, p.latest)
	}
	return all
}

// movedTo returns a sample's corrected time.
func (m *sampleRef) movedTo(moved map[recordOffset]uint64) uint64 {
	if len(moved) > 0 {
		if t, ok := moved[m.at]; ok {
			return t
		}
	}
	return m.time
}

// sortRun sorts successive chunks, in the memory of list.
func (l *sampleRefs) sortRun(list []sampleRef, from, to int, moved map[recordOffset]uint64) {
	c := refCursor{sampleRefs: l, chunk: from, end: to}
	for m, ok := c.next(); ok; m, ok = c.next() {
		m.time = m.movedTo(moved)
		list = append(list, m)
	}
	if l.err != nil {
		return
	}
	mergeRuns(list)
	for i := from; i < to; i++ {
		p := &l.chunks[i]
		part := list[:p.n]
		list = list[p.n:]
		if p.list != nil {
			copy(p.list, part)
		} else {
			l.failed(l.space.WriteAt(l.encode(part), p.at))
		}
	}
}

// take returns an iterator over the sorted samples that frees the chunks it has passed: their
// rows need the memory.
func (l *sampleRefs) take() *refMerge {
	m := &refMerge{}
	for i, from := range l.runs {
		r := &runCursor{refCursor: refCursor{sampleRefs: l, chunk: from, end: len(l.chunks), frees: true}}
		if i+1 < len(l.runs) {
			r.end = l.runs[i+1]
		}
		if r.step() {
			m.runs = append(m.runs, r)
		}
	}
	heap.Init(&m.runs)
	return m
}

// refMerge iterates over sorted runs as over one.
type refMerge struct{ runs runHeap }

// next returns the next ref; false at the end.
func (m *refMerge) next() (sampleRef, bool) {
	if len(m.runs) == 0 {
		return sampleRef{}, false
	}
	first := m.runs[0]
	now := first.now
	switch more := first.step(); {
	case !more:
		heap.Pop(&m.runs)
	case len(m.runs) > 1:
		heap.Fix(&m.runs, 0)
	}
	return now, true
}

// runHeap orders the runs of a merge by their next ref.
type runHeap []*runCursor

// runCursor is a run with its next ref.
type runCursor struct {
	refCursor
	now sampleRef
}

func (c *runCursor) step() (ok bool) {
	c.now, ok = c.next()
	return ok
}

func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(i, j int) bool { return h[i].now.before(h[j].now) }
func (h runHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push and Pop implement heap.Interface.
func (h *runHeap) Push(x any) { *h = append(*h, x.(*runCursor)) }

func (h *runHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
