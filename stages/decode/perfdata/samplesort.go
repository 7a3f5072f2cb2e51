package perfdata

import (
	"container/heap"
	"sort"
)

// sort sorts the samples by time, then by location, after applying the corrected times in moved. It
// reports whether the samples already were in order.
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

// span summarizes the times of all samples, with the corrected times in moved.
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

// movedTo returns a sample's time, corrected if it is in moved.
func (m *sampleRef) movedTo(moved map[recordOffset]uint64) uint64 {
	if len(moved) > 0 {
		if t, ok := moved[m.at]; ok {
			return t
		}
	}
	return m.time
}

// sortRun sorts the samples in the chunks from..to (exclusive). list has the memory for that.
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

// take returns an iterator over the sorted samples. It frees the chunks that it has passed, since
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

// refMerge iterates over several sorted runs in sorted order.
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

// mergeRuns sorts samples by time. perf writes its buffers in turn, and the samples of each buffer
// in order. So the list consists of ascending runs, and most runs overlap only with their
// neighbors. mergeRuns merges runs pairwise, only where they overlap.
func mergeRuns(list []sampleRef) {
	ends := runEnds(list)
	var aside []sampleRef
	for len(ends) > 1 {
		from, n := 0, 0
		for i := 0; i < len(ends); i += 2 {
			end := ends[min(i+1, len(ends)-1)]
			aside = mergeTwo(list[from:end], ends[i]-from, aside)
			from, ends[n], n = end, end, n+1
		}
		ends = ends[:n]
	}
}

// runEnds returns the ends of the ascending runs in a list.
func runEnds(list []sampleRef) (ends []int) {
	for i := 1; i < len(list); i++ {
		if list[i].before(list[i-1]) {
			ends = append(ends, i)
		}
	}
	return append(ends, len(list))
}

// mergeTwo merges two adjacent sorted parts of a list, which meet at middle. It uses the memory of
// before for scratch, and returns the scratch memory for reuse.
func mergeTwo(list []sampleRef, middle int, before []sampleRef) []sampleRef {
	if middle == len(list) || !list[middle].before(list[middle-1]) {
		return before
	}
	first, last := list[middle], list[middle-1]
	from := sort.Search(middle, func(i int) bool { return first.before(list[i]) })
	end := middle + sort.Search(len(list)-middle, func(i int) bool { return !list[middle+i].before(last) })
	left := append(before[:0], list[from:middle]...)
	aside := left
	right, to := list[middle:end], list[from:end]
	for len(right) > 0 {
		if right[0].before(left[0]) {
			to[0], right = right[0], right[1:]
		} else {
			to[0], left = left[0], left[1:]
		}
		to = to[1:]
	}
	copy(to, left)
	return aside
}
