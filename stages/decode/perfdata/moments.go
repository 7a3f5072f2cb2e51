package perfdata

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
)

// moment is the time of a sample and its place.
type moment struct {
	time uint64
	at   place
}

// moments are those of all samples, in pieces: a single list would be copied whenever
// it grows, and could not be freed bit by bit.
type moments struct {
	pieces [][]moment
	n      int
}

// momentsEach is the number of moments in a piece.
const momentsEach = 1 << 14

func (l *moments) add(m moment) {
	if l.n%momentsEach == 0 {
		l.pieces = append(l.pieces, make([]moment, 0, momentsEach))
	}
	l.n++
	last := &l.pieces[len(l.pieces)-1]
	*last = append(*last, m)
}

// all iterates over the moments.
func (l *moments) all() iter.Seq[*moment] {
	return func(yield func(*moment) bool) {
		for _, piece := range l.pieces {
			for i := range piece {
				if !yield(&piece[i]) {
					return
				}
			}
		}
	}
}

// take iterates over the moments, and frees those that have passed: what is made of
// them takes up their memory.
func (l *moments) take() iter.Seq[*moment] {
	return func(yield func(*moment) bool) {
		for ; len(l.pieces) > 0; l.pieces[0], l.pieces = nil, l.pieces[1:] {
			piece := l.pieces[0]
			for i := range piece {
				if !yield(&piece[i]) {
					return
				}
			}
		}
	}
}

// first and last return times of the sorted moments, 0 if there are none.
func (l *moments) first() uint64 {
	if l.n == 0 {
		return 0
	}
	return l.pieces[0][0].time
}

func (l *moments) last() uint64 {
	if l.n == 0 {
		return 0
	}
	piece := l.pieces[len(l.pieces)-1]
	return piece[len(piece)-1].time
}

// sort puts the moments in the order of time, equal ones in that of the file, and
// reports whether they already were.
func (l *moments) sort() (ordered bool) {
	ordered = true
	last := uint64(0)
	for m := range l.all() {
		ordered, last = ordered && m.time >= last, m.time
	}
	if ordered {
		return true
	}
	list := slices.Concat(l.pieces...)
	slices.SortFunc(list, func(a, b moment) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.at, b.at)) })
	for _, piece := range l.pieces {
		list = list[copy(piece, list):]
	}
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
