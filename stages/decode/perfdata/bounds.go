package perfdata

import (
	"math"
	"slices"

	"stackmill/stages/decode/bounds"
)

// times are the spans of time of a recording's samples and of all its records.
type times struct {
	first, last uint64 // of samples
	from, until uint64 // of all records
}

func (s *times) holds(time uint64) bool      { return time >= s.first && time <= s.last }
func (s *times) holdsOther(time uint64) bool { return time >= s.from && time <= s.until }

func isTime(time uint64) bool { return time != 0 && time != noTime }

// settleTimes corrects times outside of the recording: such a sample or record gets
// the time of the one before it in the file. The recording says when its first and
// last sample were (perf-data 2, SAMPLE_TIME); if the samples contradict that, only
// times far from the median are corrected.
func (r *reader) settleTimes() {
	middle := r.middleTime()
	if middle == 0 {
		return
	}
	r.times.from, r.times.until = middle-min(middle, uint64(bounds.Longest)), middle+min(^middle, uint64(bounds.Longest))
	if middle > awake {
		r.times.from = max(r.times.from, awake)
	}
	r.times.first, r.times.last = r.times.from, r.times.until
	if s := r.sampleTimes; isTime(s.first) && isTime(s.last) && r.agrees(&s) {
		r.times.first, r.times.last = s.first, s.last
	}
	r.settleSamples()
	r.settleSidebands()
}

// middleTime is the median of some samples' times, 0 if none was recorded.
func (r *reader) middleTime() uint64 {
	var some []uint64
	var buffer []moment
	for i := range r.moments.pieces {
		part := r.moments.part(&r.moments.pieces[i], 0, &buffer)
		for n := 0; n < min(len(part), momentsRead); n += someStep { // those that one reading has
			if t := part[n].time; isTime(t) {
				some = append(some, t)
			}
		}
	}
	if len(some) == 0 {
		return 0
	}
	slices.Sort(some)
	return some[len(some)/2]
}

func (r *reader) settleSamples() {
	before := r.times.first
	for i := range r.moments.pieces {
		if p := &r.moments.pieces[i]; p.isIn(&r.times) {
			if p.latest != 0 {
				before = p.last
			}
			continue
		}
		before = r.settlePiece(i, before)
	}
}

// settlePiece settles the samples of a piece; before is the time of the one before, and that
// of its last one is returned.
func (r *reader) settlePiece(piece int, before uint64) uint64 {
	for part := range r.moments.between(piece, piece+1) {
		for _, m := range part {
			switch {
			case m.time == 0: // not recorded
			case r.times.holds(m.time):
				before = m.time
			default:
				r.left(m.at).Out("the time of a sample", " ns", m.at.offset(), m.time, int64(r.times.first), int64(r.times.last))
				if r.moved == nil {
					r.moved = map[place]uint64{}
				}
				r.moved[m.at] = before
			}
		}
	}
	return before
}

func (r *reader) settleSidebands() {
	before := uint64(0)
	for i := range r.sidebands {
		s := &r.sidebands[i]
		switch {
		case !isTime(s.time):
		case r.times.holdsOther(s.time):
			before = s.time
		default:
			r.left(s.at).Out("the time of a record", " ns", s.at.offset(), s.time, int64(r.times.from), int64(r.times.until))
			s.time = before
		}
	}
}

// awake is earlier than any program runs, in ns: clocks start when the machine does.
const awake = 10_000_000

// someStep is the distance between the samples whose median time is taken.
const someStep = 16

// agrees reports whether all but a few samples, which may be damaged, lie in a span.
func (r *reader) agrees(s *times) bool {
	const few, share = 8, 16
	outside := 0
	for i := range r.moments.pieces {
		if r.moments.pieces[i].isIn(s) {
			continue
		}
		for part := range r.moments.between(i, i+1) {
			for _, m := range part {
				if m.time != 0 && !s.holds(m.time) {
					outside++
				}
			}
		}
	}
	return 2*outside < r.moments.n && outside <= max(few, r.moments.n/share)
}

// when is a sample's time, 0 if none was recorded.
func (r *reader) when(s *sample, at place) uint64 {
	if t, ok := r.moved[at]; ok {
		return t
	}
	return s.when()
}

// left counts the values out of bounds in the piece that holds a record.
func (r *reader) left(at place) *bounds.Left {
	n := int(at >> pieceShift)
	for len(r.leftOut) <= n {
		r.leftOut = append(r.leftOut, bounds.Left{})
	}
	return &r.leftOut[n]
}

// perNS is the most that an event can count in one ns; clocks count ns.
func (e *event) perNS() int64 {
	if e.isClock() {
		return 1
	}
	return bounds.EventsPerNS
}

// configured is the most that a sample can stand for by its event's attributes: the
// period, or the most that can be counted between two samples of the frequency. A
// period that is too long for the recording, although a counter reached it twice, is
// ignored.
func (r *reader) configured(e *event) int64 {
	const second = 1e9
	if e.flags&flagFreq != 0 {
		return bounds.Times(e.perNS(), second) / max(1, int64(min(e.period, second)))
	}
	most := bounds.Times(e.perNS(), int64(min(r.length, math.MaxInt64)))
	if e.period > math.MaxInt64 || e.samples > max(1, int64(e.ids)) && int64(e.period) > bounds.Plus(most, e.perNS()*second) {
		return 0
	}
	return int64(e.period)
}

// most is what a sample can stand for: what was counted since the recording began, or
// the period that its event asks for. Tracepoints may count time from before that:
// their bound is the age of the clock.
func (e *event) most(start, time uint64) int64 {
	since := time
	if e.typ != typeTracepoint && time >= start {
		since = time - start
	}
	if time == 0 {
		since = uint64(bounds.Longest)
	}
	return bounds.Plus(bounds.Times(e.perNS(), int64(min(since, math.MaxInt64))), e.reach)
}

// inBounds reports whether a sample can stand for its period, and counts those that
// cannot.
func (r *reader) inBounds(t *timeline, s *sample, m *moment) bool {
	e := r.events[s.event]
	most := e.most(t.start, m.time)
	if s.period <= uint64(most) {
		return true
	}
	r.left(m.at).Out("the period of a sample of "+e.name, "", m.at.offset(), s.period, 0, most)
	return false
}

// mostWeight is the longest that an access to memory can have taken, in cycles.
func (r *reader) mostWeight() int64 {
	return bounds.Times(bounds.CyclesPerNS, bounds.Plus(int64(min(r.length, math.MaxInt64)), bounds.Late))
}

func (r *reader) weightInBounds(s *sample) bool { return s.weight <= uint64(r.mostWeight()) }

// measure finds the length of the recording, and the reach of its events.
func (r *reader) measure(t *timeline) {
	r.length = uint64(bounds.Longest)
	if last := r.moments.latest; isTime(last) {
		r.length = last - min(t.start, last)
	}
	for _, e := range r.events {
		e.reach = r.configured(e)
	}
}
