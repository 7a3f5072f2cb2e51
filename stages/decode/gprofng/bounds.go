package gprofng

import (
	"math"

	"stackmill/schema"
	"stackmill/stages/decode/bounds"
)

// facts are the experiment's own statements that bound its values.
type facts struct {
	start, end int64 // on the recording's clock
	tickNS     int64
	cpus       int64
	clockMHz   int64
	arch       string
	wordBits   int
	cycles     map[int64]bool // tags of counters that count cycles
}

// facts returns the facts of the log; stated is false if it does not say how long the experiment
// was.
func (e *experiment) facts() (f facts, stated bool) {
	l := &e.log
	f = facts{
		start: l.start, end: bounds.Add(l.start, bounds.MaxDuration), cpus: int64(max(l.cpus, 1)),
		clockMHz: int64(l.clockMHz), arch: l.arch, wordBits: 8 * e.wordBytes, cycles: map[int64]bool{},
	}
	if stated = l.closed && !l.endless && l.lastTime > 0; stated {
		f.end = bounds.Add(l.start, l.lastTime)
	}
	for _, k := range l.kinds {
		if k.Kind == schema.Clock {
			f.tickNS = k.TickNS
		}
	}
	for _, c := range l.counters {
		if c.TimeUnit {
			f.cycles[int64(c.Tag)] = true
		}
	}
	return f, stated
}

// length is the experiment's length, with the delay of its last threads.
func (f *facts) length() int64 { return bounds.Add(max(f.end-f.start, 0), bounds.ExitDelay) }

// holds reports whether a time is within the experiment.
func (f *facts) holds(time int64) bool {
	return time >= f.start-bounds.ExitDelay && time <= bounds.Add(f.end, bounds.ExitDelay)
}

// A bound limits a field of a packet, by the facts and two other fields of the packet.
type bound struct {
	field, unit string
	with        [2]string
	between     func(f *facts, a, b int64) (least, most int64)
}

// boundsOf are the bounds of each packet type, for fields that are summed.
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

// anything is the bounds of a field that has no meaning in the packet.
func anything() (least, most int64) { return math.MinInt64, math.MaxInt64 }

// ticks bounds a thread's clock ticks by the experiment's length.
func ticks(f *facts, _, _ int64) (least, most int64) {
	if f.tickNS <= 0 {
		return 0, math.MaxInt32
	}
	return 0, f.length()/f.tickNS + 1
}

// request bounds the beginning of the call whose end the packet records.
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
	case f.clockMHz > 0: // CPUs may run faster for a while, but not four times as fast
		return least, bounds.Mul(f.length()/1000+1, 4*f.clockMHz)
	}
	return least, bounds.Mul(f.length(), bounds.CyclesPerNS)
}

// latency bounds a memory latency by the experiment's length, in cycles.
func latency(f *facts, _, _ int64) (least, most int64) {
	return 0, bounds.Mul(f.length(), bounds.CyclesPerNS)
}

// accesses bounds the memory accesses of all CPUs.
func accesses(f *facts, _, _ int64) (least, most int64) {
	return 0, bounds.Mul(bounds.Mul(f.length(), bounds.EventsPerNS), f.cpus)
}

// fieldCheck is the bound of a field in packets of a layout.
type fieldCheck struct {
	bound
	at   field
	with [2]field
}

// checks returns the bounds for the packets of a layout.
func (l *layout) checks() (list []fieldCheck) {
	for _, b := range boundsOf[l.typ] {
		if at := l.fields[b.field]; at.width != 0 {
			list = append(list, fieldCheck{b, at, [2]field{l.fields[b.with[0]], l.fields[b.with[1]]}})
		}
	}
	return list
}

// exceeds reports whether a packet's field is out of bounds. Unsigned values beyond math.MaxInt64
// read as negative.
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
		if !exceeds || least == most { // the latter is due to the packet's time, which is counted
			continue
		}
		shown := any(value)
		if !c.at.signed {
			shown = uint64(value)
		}
		f.outliers.Add(c.field, c.unit, int64(offset), shown, least, most)
	}
}

// clearOutliers sets the values of a column that are out of bounds to 0.
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

// time returns when a packet was recorded. A time outside of the experiment is replaced by the
// previous packet's, which the same thread usually wrote.
func (f *facts) time(recorded, before int64) int64 {
	if f.holds(recorded) {
		return recorded
	}
	return max(before, f.start)
}
