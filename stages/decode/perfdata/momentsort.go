package perfdata

import (
	"container/heap"
)

// sort puts the moments in the order of time, equal ones in that of the file, and reports
// whether they already were. Moved samples get the times in moved first.
func (l *moments) sort(moved map[place]uint64) (ordered bool) {
	l.momentSpan = l.span(moved)
	ordered = !l.disordered
	l.runs = []int{0}
	if ordered && len(moved) == 0 {
		return true
	}
	l.runs = nil
	each := min(max(1, l.inMemory()/momentsEach), len(l.pieces))
	room := make([]moment, 0, each*momentsEach)
	for from := 0; from < len(l.pieces); from += each {
		l.runs = append(l.runs, from)
		l.sortRun(room, from, min(from+each, len(l.pieces)), moved)
	}
	return ordered
}

// span is what is known of all moments, of which moved ones have the times in moved.
func (l *moments) span(moved map[place]uint64) (all momentSpan) {
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
	for i := range l.pieces {
		p := &l.pieces[i]
		all.disordered = all.disordered || p.disordered || p.first < all.latest
		all.untimed = all.untimed || p.untimed
		all.earliest, all.latest = min(all.earliest, p.earliest), max(all.latest, p.latest)
	}
	return all
}

// movedTo returns a moment's time, with that of moved samples.
func (m *moment) movedTo(moved map[place]uint64) uint64 {
	if len(moved) > 0 {
		if t, ok := moved[m.at]; ok {
			return t
		}
	}
	return m.time
}

// sortRun sorts some successive pieces, in the memory of list.
func (l *moments) sortRun(list []moment, from, to int, moved map[place]uint64) {
	c := momentCursor{moments: l, piece: from, end: to}
	for m, ok := c.next(); ok; m, ok = c.next() {
		m.time = m.movedTo(moved)
		list = append(list, m)
	}
	if l.err != nil {
		return
	}
	mergeRuns(list)
	for i := from; i < to; i++ {
		p := &l.pieces[i]
		part := list[:p.n]
		list = list[p.n:]
		if p.list != nil {
			copy(p.list, part)
		} else {
			l.failed(l.space.WriteAt(l.encode(part), p.at))
		}
	}
}

// take returns what goes over the sorted moments, and frees those that have passed: what
// is made of them takes up their memory.
func (l *moments) take() *momentMerge {
	m := &momentMerge{}
	for i, from := range l.runs {
		r := &runCursor{momentCursor: momentCursor{moments: l, piece: from, end: len(l.pieces), frees: true}}
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

// momentMerge goes over sorted runs of moments as over one.
type momentMerge struct{ runs merged }

// next returns the next moment; false at the end.
func (m *momentMerge) next() (moment, bool) {
	if len(m.runs) == 0 {
		return moment{}, false
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

// merged are runs that are read together, the one with the earliest moment first.
type merged []*runCursor

// runCursor is a run and its next moment.
type runCursor struct {
	momentCursor
	now moment
}

func (c *runCursor) step() (ok bool) {
	c.now, ok = c.next()
	return ok
}

func (h merged) Len() int           { return len(h) }
func (h merged) Less(i, j int) bool { return h[i].now.before(h[j].now) }
func (h merged) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push and Pop implement heap.Interface.
func (h *merged) Push(x any) { *h = append(*h, x.(*runCursor)) }

func (h *merged) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
