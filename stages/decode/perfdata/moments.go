package perfdata

import (
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/spill"
)

// moment is the time of a sample and its place.
type moment struct {
	time uint64
	at   place
}

// before reports whether a moment comes before another one: no two are equal.
func (m moment) before(o moment) bool { return m.time < o.time || m.time == o.time && m.at < o.at }

// moments are those of all samples, in pieces: a single list would be copied whenever it
// grows, and could not be freed or put aside bit by bit. After an error some are missing.
type moments struct {
	space  *spill.Space
	pieces []momentPiece // all but the last are full
	runs   []int         // once they are sorted: the first piece of each sorted run
	n      int
	err    error

	momentSpan          // of all, once they are sorted
	words      []uint64 // of what is read or written
}

// momentPiece is a part of the moments, in memory or in the space.
type momentPiece struct {
	list []moment // nil if it is in the space
	at   int64    // where it is then
	n    int
	momentSpan
}

// momentSpan is what is known of moments without looking at them. Times that were not recorded
// are 0.
type momentSpan struct {
	first, last      uint64 // the time of the first one, and that of the last one with a time
	earliest, latest uint64 // of those with a time; noTime and 0 if none has one
	untimed          bool   // some have none
	disordered       bool   // one is earlier than one before it
}

func (s *momentSpan) add(time uint64, isFirst bool) {
	if isFirst {
		*s = momentSpan{first: time, earliest: noTime}
	}
	s.disordered = s.disordered || time < s.latest
	if time == 0 {
		s.untimed = true
		return
	}
	s.last, s.earliest, s.latest = time, min(s.earliest, time), max(s.latest, time)
}

// begin is the earliest time, 0 if one was not recorded.
func (s *momentSpan) begin() uint64 {
	if s.untimed {
		return 0
	}
	return s.earliest
}

// isIn reports whether all times that were recorded lie in a span.
func (s *momentSpan) isIn(t *times) bool {
	return s.latest == 0 || t.holds(s.earliest) && t.holds(s.latest)
}

const (
	// momentsEach is the number of moments in a piece, and momentsRead how many are read at
	// a time.
	momentsEach = 1 << 14
	momentsRead = 1 << 12
	// momentWords is the size of a moment in the space.
	momentWords = 2
)

// inMemory is how many moments stay in memory.
func (l *moments) inMemory() int {
	const share = 4 // the rest is for rows
	return int(min(l.space.Memory/share/(8*momentWords), math.MaxInt32))
}

func (l *moments) add(m moment) {
	if l.n%momentsEach == 0 {
		var list []moment
		if last := len(l.pieces) - 1; last >= 0 && l.n > l.inMemory() {
			list = l.putAside(&l.pieces[last])
		} else {
			list = make([]moment, 0, momentsEach)
		}
		l.pieces = append(l.pieces, momentPiece{list: list})
	}
	l.n++
	p := &l.pieces[len(l.pieces)-1]
	p.list = append(p.list, m)
	p.momentSpan.add(m.time, p.n == 0)
	p.n++
}

// putAside moves a piece to the space, and returns the memory that it had.
func (l *moments) putAside(p *momentPiece) (room []moment) {
	at, err := l.space.Append(l.encode(p.list))
	l.failed(err)
	room = p.list[:0]
	p.list, p.at = nil, at
	return room
}

func (l *moments) failed(err error) {
	if l.err == nil {
		l.err = err
	}
}

// encode returns moments as they are in the space, until the next call.
func (l *moments) encode(list []moment) []byte {
	l.words = l.words[:0]
	for _, m := range list {
		l.words = append(l.words, m.time, uint64(m.at))
	}
	return arrow.GetBytes(l.words)
}

// part returns the moments of a piece from one on; some of them, in the buffer, if it is
// in the space, and none at its end.
func (l *moments) part(p *momentPiece, from int, buffer *[]moment) []moment {
	if p.list != nil || l.err != nil || from == p.n {
		return p.list[min(from, len(p.list)):]
	}
	n := min(p.n-from, momentsRead)
	l.words = slices.Grow(l.words[:0], momentWords*n)[:momentWords*n]
	l.failed(l.space.ReadAt(arrow.GetBytes(l.words), p.at+int64(8*momentWords*from)))
	list := slices.Grow((*buffer)[:0], n)
	for i := range n {
		list = append(list, moment{l.words[momentWords*i], place(l.words[momentWords*i+1])})
	}
	*buffer = list
	return list
}

// all iterates over the moments in the order in which they are kept, some at a time.
func (l *moments) all() iter.Seq[[]moment] { return l.between(0, len(l.pieces)) }

// between is all for pieces between two numbers.
func (l *moments) between(from, to int) iter.Seq[[]moment] {
	return func(yield func([]moment) bool) {
		c := momentCursor{moments: l, piece: from, end: to}
		for c.advance() && yield(c.part) {
		}
	}
}

// momentCursor goes over the pieces up to an end.
type momentCursor struct {
	*moments
	piece, end int
	from       int // how many of the piece were passed before the part
	part       []moment
	buffer     []moment
	at         int // in the part
	frees      bool
}

// next returns the next moment; false at the end.
func (c *momentCursor) next() (moment, bool) {
	if c.at == len(c.part) && !c.advance() {
		return moment{}, false
	}
	c.at++
	return c.part[c.at-1], true
}

// advance goes on to the next part, which is not empty; false at the end.
func (c *momentCursor) advance() bool {
	for ; c.piece < c.end; c.piece, c.from = c.piece+1, 0 {
		p := &c.pieces[c.piece]
		c.from += len(c.part)
		if c.part, c.at = c.moments.part(p, c.from, &c.buffer), 0; len(c.part) > 0 {
			return true
		}
		if c.frees {
			p.list = nil
		}
	}
	c.part, c.at = nil, 0
	return false
}

// sampleAt keeps the place of a sample.
func (r *reader) sampleAt(at place, body []byte) {
	e := r.eventOf(body)
	if e < 0 {
		r.unknownEvents++
		return
	}
	t, ok := r.timeOf(&r.events[e].attr, body)
	if !ok {
		r.badSamples++
		return
	}
	r.moments.add(moment{t, at})
	r.events[e].samples++
}

// timeOf reads a sample's time, which precedes all fields of varying size.
func (r *reader) timeOf(a *attr, body []byte) (uint64, bool) {
	t := a.sampleType
	if t&sampleTime == 0 {
		return 0, true
	}
	at := 8 * bits.OnesCount64(t&(sampleIdentifier|sampleIP|sampleTID))
	if at+8 > len(body) {
		return 0, false
	}
	c := cursorOf(body[at:], r.big)
	return c.U64(), true
}
