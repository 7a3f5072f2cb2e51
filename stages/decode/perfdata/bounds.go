package perfdata

import (
	"math"
	"slices"

	"stackmill/stages/decode/bounds"
)

// timeLimits are the first and last possible times of the samples and of all records.
type timeLimits struct {
	first, last uint64 // possible times of samples, ns
	from, until uint64 // possible times of all records, ns
}

func (s *timeLimits) holds(time uint64) bool      { return time >= s.first && time <= s.last }
func (s *timeLimits) holdsOther(time uint64) bool { return time >= s.from && time <= s.until }

func isTime(time uint64) bool { return time != 0 && time != noTime }

// settleTimes corrects impossible times: such a sample or record gets the time of the previous one
// in the file. The header says when the first and the last sample were taken (perf-data 2,
// SAMPLE_TIME). If the samples contradict the header, only times far from their median are
// corrected.
func (r *reader) settleTimes() {
	middle := r.middleTime()
	if middle == 0 {
		return
	}
	r.limits.times.from, r.limits.times.until = middle-min(middle, uint64(bounds.MaxDuration)), middle+min(^middle, uint64(bounds.MaxDuration))
	if middle > awake {
		r.limits.times.from = max(r.limits.times.from, awake)
	}
	r.limits.times.first, r.limits.times.last = r.limits.times.from, r.limits.times.until
	if s := r.meta.sampleTimes; isTime(s.first) && isTime(s.last) && r.agrees(&s) {
		r.limits.times.first, r.limits.times.last = s.first, s.last
	}
	r.limits.moved = r.settleRefs(&r.found.sampleRefs, "the time of a sample", &r.limits.times)
	r.limits.movedSwitches = r.settleRefs(&r.found.switchRefs, "the time of a record", &timeLimits{first: r.limits.times.from, last: r.limits.times.until})
	r.settleSidebands()
}

// middleTime returns the median time of some samples, or of some switch records if there are no
// samples; 0 if no time was recorded.
func (r *reader) middleTime() uint64 {
	var some []uint64
	var buffer []sampleRef
	list := &r.found.sampleRefs
	if list.n == 0 {
		list = &r.found.switchRefs
	}
	for i := range list.chunks {
		part := list.part(&list.chunks[i], 0, &buffer)
		for n := 0; n < min(len(part), refsPerRead); n += someStep { // at most as many as one read returns
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

// settleRefs returns the corrected times of those records in a list whose times are outside of the
// limits.
func (r *reader) settleRefs(l *sampleRefs, what string, limits *timeLimits) (moved map[recordOffset]uint64) {
	before := limits.first
	for i := range l.chunks {
		if p := &l.chunks[i]; p.isIn(limits) {
			if p.latest != 0 {
				before = p.last
			}
			continue
		}
		for part := range l.between(i, i+1) {
			for _, m := range part {
				switch {
				case m.time == 0: // not recorded
				case limits.holds(m.time):
					before = m.time
				default:
					r.outliers(m.at).Add(what, " ns", m.at.offset(), m.time, int64(limits.first), int64(limits.last))
					if moved == nil {
						moved = map[recordOffset]uint64{}
					}
					moved[m.at] = before
				}
			}
		}
	}
	return moved
}

func (r *reader) settleSidebands() {
	before := uint64(0)
	for i := range r.found.sidebands {
		s := &r.found.sidebands[i]
		switch {
		case !isTime(s.time):
		case r.limits.times.holdsOther(s.time):
			before = s.time
		default:
			r.outliers(s.at).Add("the time of a record", " ns", s.at.offset(), s.time, int64(r.limits.times.from), int64(r.limits.times.until))
			s.time = before
		}
	}
}

// awake is earlier than any program runs, in ns: clocks start when the machine boots.
const awake = 10_000_000

// someStep is the sampling interval of middleTime: it uses the time of every 16th sample.
const someStep = 16

// agrees reports whether all samples have times within s, except a few that may be damaged.
func (r *reader) agrees(s *timeLimits) bool {
	const few, share = 8, 16
	outside := 0
	for i := range r.found.sampleRefs.chunks {
		if r.found.sampleRefs.chunks[i].isIn(s) {
			continue
		}
		for part := range r.found.sampleRefs.between(i, i+1) {
			for _, m := range part {
				if m.time != 0 && !s.holds(m.time) {
					outside++
				}
			}
		}
	}
	return 2*outside < r.found.sampleRefs.n && outside <= max(few, r.found.sampleRefs.n/share)
}

// when returns a sample's corrected time, 0 if it has none.
func (r *reader) when(s *sample, at recordOffset) uint64 {
	if t, ok := r.limits.moved[at]; ok {
		return t
	}
	return s.when()
}

// outliers returns the counts of impossible values for the segment that contains a record.
func (r *reader) outliers(at recordOffset) *bounds.Outliers {
	n := int(at >> segmentShift)
	for len(r.limits.outliers) <= n {
		r.limits.outliers = append(r.limits.outliers, bounds.Outliers{})
	}
	return &r.limits.outliers[n]
}

// perNS returns an upper bound of an event's counts per ns. A clock event counts 1 per ns.
func (e *event) perNS() int64 {
	if e.isClock() {
		return 1
	}
	return bounds.EventsPerNS
}

// configured returns the maximum period of a sample according to its event's attributes: the fixed
// period, or what the counter can reach between two samples at the requested frequency. The result
// is 0 if the fixed period is wrong: there are samples, but the counter cannot have reached the
// period during the recording.
func (r *reader) configured(e *event) int64 {
	const second = 1e9
	if e.flags&flagFreq != 0 {
		return bounds.Mul(e.perNS(), second) / max(1, int64(min(e.period, second)))
	}
	most := bounds.Mul(e.perNS(), int64(min(r.limits.length, math.MaxInt64)))
	if e.period > math.MaxInt64 || e.samples > max(1, int64(e.ids)) && int64(e.period) > bounds.Add(most, e.perNS()*second) {
		return 0
	}
	return int64(e.period)
}

// most returns an upper bound of a sample's period: the counts since the recording began plus the
// event's reach. A tracepoint's period may be a time that began before the recording: its bound is
// the age of the clock.
func (e *event) most(start, time uint64) int64 {
	since := time
	if e.typ != typeTracepoint && time >= start {
		since = time - start
	}
	if time == 0 {
		since = uint64(bounds.MaxDuration)
	}
	return bounds.Add(bounds.Mul(e.perNS(), int64(min(since, math.MaxInt64))), e.reach)
}

// inBounds reports whether a sample's period is possible. If not, it counts the period as an
// outlier.
func (r *reader) inBounds(t *timeline, s *sample, m *sampleRef) bool {
	e := r.events[s.event]
	most := e.most(t.start, m.time)
	if s.period <= uint64(most) {
		return true
	}
	r.outliers(m.at).Add("the period of a sample of "+e.name, "", m.at.offset(), s.period, 0, most)
	return false
}

// mostWeight is the longest possible duration of a memory access, in cycles.
func (r *reader) mostWeight() int64 {
	return bounds.Mul(bounds.CyclesPerNS, bounds.Add(int64(min(r.limits.length, math.MaxInt64)), bounds.ExitDelay))
}

func (r *reader) weightInBounds(s *sample) bool { return s.weight <= uint64(r.mostWeight()) }

// measure computes the length of the recording and the reach of each event.
func (r *reader) measure(t *timeline) {
	r.limits.length = uint64(bounds.MaxDuration)
	if last := r.found.sampleRefs.latest; isTime(last) {
		r.limits.length = last - min(t.start, last)
	}
	for _, e := range r.events {
		e.reach = r.configured(e)
	}
}
