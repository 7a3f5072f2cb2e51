package perfdata

import (
	"math"

	"stackmill/stages/decode"
	"stackmill/stages/decode/bounds"
)

// counterValues has the last reading of each counter.
type counterValues map[counterKey]counterReading

// counterKey identifies a counter. An inherited counter has a value for each thread; tid is 0 for
// others.
type counterKey struct {
	id  uint64
	tid int32
}

// counterReading is a counter's value, and how long it was enabled and running on the hardware,
// in ns; 0 if not recorded.
type counterReading struct{ value, enabled, running uint64 }

// since returns the count since an earlier reading, scaled up if the counter shared the hardware
// with others and ran only part of the time.
func (r counterReading) since(last counterReading) uint64 {
	n, enabled, running := r.value-last.value, r.enabled-last.enabled, r.running-last.running
	if running == 0 || running >= enabled {
		return n
	}
	return uint64(float64(n)*float64(enabled)/float64(running) + 0.5)
}

// addCounterRows adds a row for each counter that a sample read, with the count since the counter's
// last reading. It omits counts of 0 (perf-data 6.1).
func (r *reader) addCounterRows(last counterValues, s *sample, m *sampleRef, from row, to *rowBatch) {
	e := r.events[s.event]
	c := readingCursor{cursorOf(s.values, r.big), e.readFormat}
	n := uint64(1)
	var now counterReading
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
				part.narrow[rowEvent] = e
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
			r.unused.lostBy[key.id] = max(r.unused.lostBy[key.id], lost)
		}
		if r.advance(last, key, now, &part, m) && part.wide[rowPeriod] != 0 {
			r.addRow(s, &part, to)
			r.events[part.narrow[rowEvent]].samples++
		}
	}
}

// readingCursor reads counter values of a read_format.
type readingCursor struct {
	cursor
	format uint64
}

// times reads how long a counter or group was enabled and running.
func (c *readingCursor) times(r *counterReading) {
	if c.format&readEnabled != 0 {
		r.enabled = c.U64()
	}
	if c.format&readRunning != 0 {
		r.running = c.U64()
	}
}

// advance sets a row's period to the counter's count since its last reading; false if the count
// is impossible.
func (r *reader) advance(last counterValues, key counterKey, now counterReading, part *row, m *sampleRef) bool {
	before := last[key]
	period := now.since(before)
	ok := r.readInBounds(r.events[part.narrow[rowEvent]], m, now, before, period)
	if ok || now.value < before.value { // if the value fell, the last reading may be the wrong one
		last[key] = now
	}
	part.wide[rowPeriod] = int64(period)
	return ok
}

// readInBounds reports whether a counter's reading is possible, and counts the impossible ones. A
// counter counts from when it was enabled, on all CPUs if threads inherit it.
func (r *reader) readInBounds(e *event, m *sampleRef, now, before counterReading, period uint64) bool {
	age := uint64(bounds.MaxDuration)
	if isTime(m.time) {
		age = m.time
	}
	since := age
	if now.enabled != 0 {
		since = now.enabled
	}
	if e.flags&flagInherit != 0 { // the sum over all threads
		age = uint64(bounds.Mul(int64(min(age, math.MaxInt64)), bounds.MaxThreads))
	}
	most := bounds.Mul(bounds.Mul(e.perNS(), int64(min(since, math.MaxInt64))), int64(max(1, r.rec.CPUs)))
	if now.value >= before.value && since <= age && period <= uint64(most) {
		return true
	}
	r.outliers(m.at).Add("the reading of "+e.name, "", m.at.offset(), now.value, int64(min(before.value, math.MaxInt64)), most)
	return false
}

// manyEvents is the number of events above which events without samples are not listed.
const manyEvents = 256

// distinctNames returns the events' names. Each of several events with the same name gets another one.
func (p *recordParser) distinctNames() []string {
	names := make([]string, len(p.events))
	for i, e := range p.events {
		names[i] = e.name
	}
	return decode.DistinctNames(names)
}

// makeCounters lists the events, which all processes share. Events with the same name, such as
// one requested twice, become separate metrics.
func (t *timeline) makeCounters() {
	names := t.r.distinctNames()
	for i, e := range t.r.events {
		if !e.isDummy() && !(t.offCPU && e.isOffCPU()) && (e.samples > 0 || len(t.r.events) <= manyEvents) {
			t.counters = append(t.counters, decode.Counter{Tag: i, Name: names[i], Title: names[i], TimeUnit: e.isClock(), Trigger: t.r.trigger(e), Preferred: (t.follows || t.offCPU) && int32(i) == t.clock})
		}
	}
}
