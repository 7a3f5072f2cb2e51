package gprofng

import (
	"math"
	"slices"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/bounds"
	"stackmill/stages/decode/mmap"
)

// facts holds the values of the log from which bounds follow.
type facts struct {
	start, end int64 // ns on the recording's clock
	tickNS     int64
	cpus       int64
	clockMHz   int64
	arch       string
	wordBits   int
	cycles     map[int64]bool // tags of counters that count cycles
}

// facts returns the facts of the log; stated says that the log has the experiment's length.
func (e *experiment) facts() (f facts, stated bool) {
	l := &e.log
	f = facts{
		start: l.start, end: bounds.Add(l.start, bounds.MaxDuration), cpus: int64(max(l.cpus, 1)),
		clockMHz: int64(l.clockMHz), arch: l.arch, wordBits: 8 * e.wordBytes, cycles: map[int64]bool{},
	}
	if stated = l.closed && !l.endless && l.lastTime > 0; stated {
		f.end = bounds.Add(l.start, l.lastTime)
	}
	clock, _ := l.kindInfo(schema.Clock)
	f.tickNS = clock.TickNS
	for _, c := range l.counters {
		if c.TimeUnit {
			f.cycles[int64(c.Tag)] = true
		}
	}
	return f, stated
}

// length is the experiment's length, including the delay of its last threads.
func (f *facts) length() int64 { return bounds.Add(max(f.end-f.start, 0), bounds.ExitDelay) }

// holds reports whether a time is within the experiment.
func (f *facts) holds(time int64) bool {
	return time >= f.start-bounds.ExitDelay && time <= bounds.Add(f.end, bounds.ExitDelay)
}

// bound limits a field of a packet. between computes the limits from the facts and the values of
// the two fields named in with.
type bound struct {
	field, unit string
	with        [2]string
	between     func(f *facts, a, b int64) (least, most int64)
}

// boundsOf maps a packet type to the bounds of those of its fields whose values are summed.
var boundsOf = map[uint16][]bound{
	typeOProf: {{field: "NTICK", between: ticks}},
	typeProf:  allTicks(),
	typeSync:  {{field: "SRQST", unit: " ns", with: [2]string{"TSTAMP"}, between: request}},
	typeIO: {
		{field: "IORQST", unit: " ns", with: [2]string{"TSTAMP"}, between: request},
		{field: "IONBYTE", unit: " bytes", with: [2]string{"IOTYPE"}, between: transferred},
	},
	typeHeap: {{field: "HSIZE", unit: " bytes", with: [2]string{"HVADDR", "HTYPE"}, between: block}},
	typeHWC:  {{field: "HWCINT", with: [2]string{"HWCTAG"}, between: counted}},
	typeXHWC: {{field: "HWCINT", with: [2]string{"HWCTAG"}, between: counted}},
	typeMHWC: {
		{field: "HWCINT", with: [2]string{"HWCTAG"}, between: counted},
		{field: "MEM_LAT", unit: " cycles", between: latency},
	},
	typeRace: {{field: "RCNT", between: accesses}},
}

func allTicks() (list []bound) {
	for _, state := range microStates {
		list = append(list, bound{field: state, between: ticks})
	}
	return list
}

// anything returns bounds that allow any value, for a field that has no meaning in the packet.
func anything() (least, most int64) { return math.MinInt64, math.MaxInt64 }

// ticks bounds a thread's clock ticks by the experiment's length.
func ticks(f *facts, _, _ int64) (least, most int64) {
	if f.tickNS <= 0 {
		return 0, math.MaxInt32
	}
	return 0, f.length()/f.tickNS + 1
}

// request bounds the start of a call by its end, which is the packet's time.
func request(f *facts, time, _ int64) (least, most int64) {
	if !f.holds(time) {
		return 0, 0 // the length of the call is unknown
	}
	return f.start - bounds.ExitDelay, time
}

// transferred bounds the bytes of a call by the process's memory.
func transferred(f *facts, operation, _ int64) (least, most int64) {
	const read, write = 0, 1
	if operation != read && operation != write {
		return anything()
	}
	return 0, int64(bounds.MemoryEnd(f.arch, f.wordBits, 0))
}

// block bounds the size of a heap block. A failed call may have asked for any size.
func block(f *facts, address, operation int64) (least, most int64) {
	if address == 0 || operation == free {
		return anything()
	}
	end := bounds.MemoryEnd(f.arch, f.wordBits, uint64(address))
	if uint64(address) >= end {
		return 0, int64(end)
	}
	return 0, int64(end - uint64(address))
}

// free is the HTYPE of a call that only frees.
const free = 1

// counted bounds a counter's value. The sign bit marks invalid samples.
func counted(f *facts, tag, _ int64) (least, most int64) {
	least = math.MinInt64
	switch {
	case !f.cycles[tag]:
		return least, bounds.Mul(f.length(), bounds.EventsPerNS)
	case f.clockMHz > 0: // turbo modes are faster, but not four times as fast
		return least, bounds.Mul(f.length()/1000+1, 4*f.clockMHz)
	}
	return least, bounds.Mul(f.length(), bounds.CyclesPerNS)
}

// latency bounds a memory latency by the experiment's length, in cycles.
func latency(f *facts, _, _ int64) (least, most int64) {
	return 0, bounds.Mul(f.length(), bounds.CyclesPerNS)
}

// accesses bounds a number of memory accesses by what all CPUs can do in the experiment.
func accesses(f *facts, _, _ int64) (least, most int64) {
	return 0, bounds.Mul(bounds.Mul(f.length(), bounds.EventsPerNS), f.cpus)
}

// fieldCheck is a bound with the offsets of its fields in a packet layout.
type fieldCheck struct {
	bound
	at   field
	with [2]field
}

// checks returns the bounds that apply to packets of a layout.
func (l *layout) checks() (list []fieldCheck) {
	for _, b := range boundsOf[l.typ] {
		if at := l.fields[b.field]; at.width != 0 {
			list = append(list, fieldCheck{b, at, [2]field{l.fields[b.with[0]], l.fields[b.with[1]]}})
		}
	}
	return list
}

// exceeds reports whether a packet's field is out of bounds. Unsigned values above math.MaxInt64
// appear as negative.
func (c *fieldCheck) exceeds(f *eventFile, packet []byte) (value, least, most int64, exceeds bool) {
	if value = c.at.get(packet, f.order); value == 0 {
		return 0, 0, 0, false
	}
	least, most = c.between(&f.facts, c.with[0].get(packet, f.order), c.with[1].get(packet, f.order))
	return value, least, most, value < least || value > most
}

// countOutliers counts the values of a packet that are out of bounds.
func (f *eventFile) countOutliers(checks []fieldCheck, offset int, packet []byte) {
	for i := range checks {
		c := &checks[i]
		value, least, most, exceeds := c.exceeds(f, packet)
		if !exceeds || least == most { // least == most: the packet's time is impossible, and was counted
			continue
		}
		shown := any(value)
		if !c.at.signed {
			shown = uint64(value)
		}
		f.outliers.Add(c.field, c.unit, int64(offset), shown, least, most)
	}
}

// clearOutliers sets to 0 the values in a column that are out of bounds.
func (f *eventFile) clearOutliers(to []int64, l *layout, packets []int, name string) {
	if f.moved == 0 && !f.outliers.Has(name) {
		return
	}
	for i := range f.checks[l.typ] {
		c := &f.checks[l.typ][i]
		if c.field != name {
			continue
		}
		for j, o := range packets {
			if _, _, _, exceeds := c.exceeds(f, f.Data[o:]); exceeds {
				to[j] = 0
			}
		}
	}
}

// time returns when a packet was recorded. If the recorded time is outside of the experiment, it
// returns the time of the previous packet, which usually is of the same thread.
func (f *facts) time(recorded, before int64) int64 {
	if f.holds(recorded) {
		return recorded
	}
	return max(before, f.start)
}

// indexEvents indexes an event file, bounded by the facts of the log. If the log lacks the
// experiment's end, or if the times of most events contradict the log, it indexes the file again,
// bounded by the events' own times.
func (e *experiment) indexEvents(f *eventFile, r *packetReader) {
	facts, stated := e.facts()
	f.facts = facts
	f.index(r)
	contradicted := 2*f.moved > f.packets && !e.confirmed(&f.facts)
	if f.packets == 0 || stated && !contradicted {
		return
	}
	again := func() {
		quiet := newPacketReader(r.data, r.order, blockLayout{size: r.blocks.size}, func(diagnostic.Severity, int64, string, string, int64) {})
		quiet.types, quiet.release = r.types, r.release
		for i := range quiet.types {
			quiet.types[i].size = 0
		}
		f.index(quiet)
	}
	if contradicted {
		slices.Sort(f.some)
		middle := f.some[len(f.some)/2]
		if founder := e.opener.founder; founder != nil && !isNearStart(founder.log.start, middle) {
			return // the events' own times are impossible: keep the log's
		}
		f.facts.start, f.facts.end = middle-bounds.MaxDuration, bounds.Add(max(middle, 0), bounds.MaxDuration)
		again()
		e.report(diagnostic.Error, logFile, diagnostic.NoOffset, "bad-time",
			"most events of %s are not between the start and the end of the experiment according to the log (%d and %d ns): their own times are used", f.Name, facts.start, facts.end)
		if far := e.log.start - f.first; far > bounds.MaxDuration || -far > bounds.MaxDuration {
			e.rebase(f.first)
		}
		f.facts.start = min(e.log.start, f.first)
	}
	f.facts.end = f.last
	again()
}

// isNearStart reports whether a process can record at a time: not before its founder's start, and
// not years after it.
func isNearStart(founder, time int64) bool {
	return time >= founder-bounds.ExitDelay && time <= bounds.Add(founder, bounds.MaxDuration)
}

// confirmed reports whether the first time in the overview is within the experiment according to
// the log. If so, the log is right and the events' times are wrong.
func (e *experiment) confirmed(f *facts) (holds bool) {
	e.view(overviewFile, func(m *mmap.File) {
		if size := overviewHead + overviewWords*e.wordBytes; len(m.Data) >= size {
			holds = f.holds(e.overviewRecord(m.Data[:size]).time)
		}
	})
	return holds
}

// settleStart makes a descendant start with its founder if its log says that it started before the
// founder, or years later.
func (e *experiment) settleStart() {
	l, founder := &e.log, e.opener.founder
	if l.start < 0 {
		e.report(diagnostic.Error, logFile, diagnostic.NoOffset, "bad-time", "according to the log, the experiment started at %d ns, before the machine did", l.start)
		l.start = 0
	}
	if founder == nil || l.start == 0 || founder.log.start == 0 || isNearStart(founder.log.start, l.start) {
		return
	}
	e.report(diagnostic.Error, logFile, diagnostic.NoOffset, "bad-time",
		"according to the log, the process started at %d ns and its founder at %d ns: stackmill assumes that it started with its founder", l.start, founder.log.start)
	l.start = founder.log.start
}

// rebase replaces the experiment's start, because the log has a wrong one.
func (e *experiment) rebase(start int64) {
	e.log.start = start
	founder := e.opener.founder
	if founder == nil {
		return
	}
	before := e.process.StartNS
	e.process.StartNS = start - founder.log.start
	for i := range e.process.Mappings {
		e.process.Mappings[i].Time += e.process.StartNS - before
	}
}
