package perfdata

import (
	"container/heap"
	"iter"
)

// sort puts the moments in the order of time, equal ones in that of the file, and reports
// whether they already were. Moved samples get the times in moved first.
func (l *moments) sort(moved map[place]uint64) (ordered bool) {
	ordered, l.first, l.last = true, noTime, 0
	for part := range l.all() {
		for _, m := range part {
			time := m.movedTo(moved)
			ordered = ordered && time >= l.last
			l.first, l.last = min(l.first, time), max(l.last, time)
		}
	}
	if l.n == 0 {
		l.first = 0
	}
	l.runs = []int{0}
	if ordered && len(moved) == 0 {
		return true
	}
	l.runs = nil
	each := max(1, l.inMemory()/momentsEach)
	for from := 0; from < len(l.pieces); from += each {
		l.runs = append(l.runs, from)
		l.sortRun(from, min(from+each, len(l.pieces)), moved)
	}
	return ordered
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

// sortRun sorts some successive pieces.
func (l *moments) sortRun(from, to int, moved map[place]uint64) {
	list := make([]moment, 0, (to-from)*momentsEach)
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

// take iterates over the sorted moments, and frees those that have passed: what is made
// of them takes up their memory.
func (l *moments) take() iter.Seq[moment] {
	return func(yield func(moment) bool) {
		var m merged
		for i, from := range l.runs {
			c := &momentCursor{moments: l, piece: from, end: len(l.pieces), frees: true}
			if i+1 < len(l.runs) {
				c.end = l.runs[i+1]
			}
			m.add(c)
		}
		heap.Init(&m)
		for len(m) > 0 && yield(m[0].now) {
			if m[0].advance() {
				heap.Fix(&m, 0)
			} else {
				heap.Pop(&m)
			}
		}
	}
}

// merged are runs that are read together, the one with the earliest moment first.
type merged []*runCursor

// runCursor is a run and its next moment.
type runCursor struct {
	*momentCursor
	now moment
}

func (c *runCursor) advance() (ok bool) {
	c.now, ok = c.next()
	return ok
}

func (h *merged) add(c *momentCursor) {
	if r := (&runCursor{momentCursor: c}); r.advance() {
		*h = append(*h, r)
	}
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
