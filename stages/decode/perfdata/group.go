package perfdata

import (
	"math"

	"stackmill/stages/decode/bounds"
)

// totals are the last readings of counters.
type totals map[counterKey]reading

// counterKey identifies a counter. One that threads inherit counts in each of them.
type counterKey struct {
	id  uint64
	tid int32
}

// reading is a counter's value, and for how long it was enabled and ran on the
// hardware, in ns; 0 if not recorded.
type reading struct{ value, enabled, running uint64 }

// since is what was counted since an earlier reading. A counter that shared the
// hardware with others ran for a part of the time only: its value is scaled up.
func (r reading) since(last reading) uint64 {
	n, enabled, running := r.value-last.value, r.enabled-last.enabled, r.running-last.running
	if running == 0 || running >= enabled {
		return n
	}
	return uint64(float64(n)*float64(enabled)/float64(running) + 0.5)
}

// counted adds a row to a list for each counter that a sample read, with what it
// counted since the last time, unless that is 0 (perf-data 6.1).
func (r *reader) counted(last totals, s *sample, m *moment, from row, to *rowBatch) {
	e := r.events[s.event]
	c := readingCursor{cursorOf(s.values, r.big), e.readFormat}
	n := uint64(1)
	var now reading
	group := e.readFormat&readGroup != 0
	if group {
		n = c.U64()
		c.times(&now)
	}
	for ; n > 0; n-- {
		now.value = c.U64()
		if !group {
			c.times(&now)
		}
		part, key := from, counterKey{}
		if e.flags&flagInherit != 0 {
			key.tid = s.tid
		}
		if e.readFormat&readID != 0 {
			key.id = c.U64()
			if e, ok := r.byID[key.id]; ok {
				part.event = e
			}
		}
		lost := uint64(0)
		if e.readFormat&readLost != 0 {
			lost = c.U64()
		}
		if c.Short {
			return
		}
		if lost != 0 {
			r.lostBy[key.id] = max(r.lostBy[key.id], lost)
		}
		if r.advance(last, key, now, &part, m) && part.period != 0 {
			r.keep(s, &part, to)
			r.events[part.event].samples++
		}
	}
}

// readingCursor reads counters' values of a read_format.
type readingCursor struct {
	cursor
	format uint64
}

// times reads the times that a counter, or a group, was enabled and running.
func (c *readingCursor) times(r *reading) {
	if c.format&readEnabled != 0 {
		r.enabled = c.U64()
	}
	if c.format&readRunning != 0 {
		r.running = c.U64()
	}
}

// advance sets a row's period to what a counter counted since its last reading;
// false if it cannot have counted that.
func (r *reader) advance(last totals, key counterKey, now reading, part *row, m *moment) bool {
	before := last[key]
	period := now.since(before)
	ok := r.readInBounds(r.events[part.event], m, now, before, period)
	if ok || now.value < before.value { // then the one before may be wrong
		last[key] = now
	}
	part.period = int64(period)
	return ok
}

// readInBounds reports whether an event's counter can have counted so much by a
// moment, and counts those that cannot. It counts since it was enabled, on all
// processors if threads inherit it.
func (r *reader) readInBounds(e *event, m *moment, now, before reading, period uint64) bool {
	age := uint64(bounds.Longest)
	if isTime(m.time) {
		age = m.time
	}
	since := age
	if now.enabled != 0 {
		since = now.enabled
	}
	if e.flags&flagInherit != 0 { // the times of all threads
		age = uint64(bounds.Times(int64(min(age, math.MaxInt64)), bounds.Threads))
	}
	most := bounds.Times(bounds.Times(e.perNS(), int64(min(since, math.MaxInt64))), int64(max(1, r.rec.CPUs)))
	if now.value >= before.value && since <= age && period <= uint64(most) {
		return true
	}
	r.left(m.at).Out("the reading of "+e.name, "", m.at.offset(), now.value, int64(min(before.value, math.MaxInt64)), most)
	return false
}
