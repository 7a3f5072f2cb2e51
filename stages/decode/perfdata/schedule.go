package perfdata

import (
	"math/bits"
	"strconv"
	"strings"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/schedule"
	"stackmill/stages/decode/tracepoint"
)

// flagBackward is the attr flag of an event whose buffer keeps the last records, and overwrites
// older ones (perf record --overwrite).
const flagBackward = 1 << 27

// flagContextSwitch is the attr flag of the event to which switch records belong.
const flagContextSwitch = 1 << 26

// The bits of a switch record's misc field.
const (
	miscSwitchOut     = 1 << 13
	miscSwitchPreempt = 1 << 14 // at a switch out: the thread was still runnable
)

// switchRecord is a SWITCH or SWITCH_CPU_WIDE record (perf-data 24.1).
type switchRecord struct {
	time    uint64
	pid     int32 // process of the thread; -1 if it has ended
	tid     int32
	cpu     int32
	other   int32 // SWITCH_CPU_WIDE only: the other thread of the switch
	out     bool
	preempt bool
}

// trailer holds the fields at the end of a record that is not a sample (perf-data 6.4).
type trailer struct {
	pid, tid int32
	time     uint64 // 0 if it was not recorded
	cpu      int32  // -1 if it was not recorded
}

// trailerOf reads the trailer of a record of the given event.
func (p *recordParser) trailerOf(e *event, body []byte) (t trailer, size int, ok bool) {
	t = trailer{pid: -1, tid: -1, cpu: -1}
	if e.flags&flagSampleIDAll == 0 {
		return t, 0, true
	}
	size = 8 * bits.OnesCount64(e.sampleType&(sampleTID|sampleTime|sampleID|sampleStreamID|sampleCPU|sampleIdentifier))
	if size > len(body) {
		return t, 0, false
	}
	c := cursorOf(body[len(body)-size:], p.big)
	if e.sampleType&sampleTID != 0 {
		t.pid, t.tid = c.s32(), c.s32()
	}
	if e.sampleType&sampleTime != 0 {
		if t.time = c.U64(); t.time == noTime {
			t.time = 0
		}
	}
	c.Bytes(8 * uint64(bits.OnesCount64(e.sampleType&(sampleID|sampleStreamID))))
	if e.sampleType&sampleCPU != 0 {
		t.cpu = c.s32()
	}
	return t, size, true
}

// trailerEvent returns the event whose trailer a record has: the event with the id that ends the
// record; without an id, the first event with the flag, or else the first event.
func (p *recordParser) trailerEvent(body []byte, flag uint64) *event {
	if len(p.events) == 0 {
		return nil
	}
	first := p.events[0]
	if first.sampleType&sampleIdentifier != 0 && first.flags&flagSampleIDAll != 0 && len(body) >= 8 {
		c := cursorOf(body[len(body)-8:], p.big)
		if e, known := p.byID[c.U64()]; known {
			return p.events[e]
		}
	}
	for _, e := range p.events {
		if e.flags&flag != 0 {
			return e
		}
	}
	return first
}

// readSwitch reads a switch record; false if it ends too early.
func (p *recordParser) readSwitch(typ uint32, misc uint16, body []byte, s *switchRecord) bool {
	e := p.trailerEvent(body, flagContextSwitch)
	if e == nil {
		return false
	}
	t, size, ok := p.trailerOf(e, body)
	if !ok {
		return false
	}
	*s = switchRecord{time: t.time, pid: t.pid, tid: t.tid, cpu: t.cpu, out: misc&miscSwitchOut != 0, preempt: misc&miscSwitchPreempt != 0}
	c := cursorOf(body[:len(body)-size], p.big)
	if typ == recordSwitchCPUWide {
		c.s32()
		s.other = c.s32()
	}
	return !c.Short && len(c.Rest) == 0 // a sample with a damaged record type is longer
}

// switchAt notes the offset of a switch record.
func (r *reader) switchAt(at recordOffset, typ uint32, misc uint16, body []byte) {
	var s switchRecord
	switch {
	case !r.readSwitch(typ, misc, body, &s):
		r.stats.oddRecords++
	case s.time == 0 || s.tid < -1:
		r.sched.untimed++
	default:
		r.sched.cpuWide = r.sched.cpuWide || typ == recordSwitchCPUWide
		r.sched.preempts = r.sched.preempts || s.preempt
		r.sched.passedTime(s.time, s.cpu)
		r.found.switchRefs.add(sampleRef{s.time, at})
	}
}

// schedulerRecords holds what the first pass found out about records of the scheduler.
type schedulerRecords struct {
	lost    []schedule.LostTime
	untimed int64 // switch records without a time
	// lostUntimed is how many records say that others were lost, but not when.
	lostUntimed int64
	cpuWide     bool // switch records are of CPUs, not of threads
	// preempts says that some switch record is of a thread that was still runnable.
	preempts bool
	// foreign says that the fields of tracepoints have other thread ids than samples and records,
	// because perf ran in a process namespace of its own.
	foreign bool
	local   map[int32]int32 // for foreign tracepoints: thread id in fields -> thread id in samples and records, 0 if ambiguous
	idles   int             // number of samples whose common_pid was read to find foreign
	latest  uint64          // the time of the last record in the file
	round   uint64          // the latest time before perf's last FINISHED_ROUND
	before  uint64          // the latest time before the FINISHED_ROUND before that
	cpus    []cpuTimes
}

// cpuTimes are the times of a CPU's records: the earliest, and the last in the file; 0 if there are
// none.
type cpuTimes struct{ earliest, last uint64 }

// passedTime notes the time of a record, and its CPU, -1 if that is not recorded. Records come in
// file order.
func (s *schedulerRecords) passedTime(time uint64, cpu int32) {
	if time == 0 || time == noTime {
		return
	}
	s.latest = time
	if cpu < 0 || cpu >= maxCPUs {
		return
	}
	if n := int(cpu) + 1 - len(s.cpus); n > 0 {
		s.cpus = append(s.cpus, make([]cpuTimes, n)...)
	}
	c := &s.cpus[cpu]
	if c.last = time; c.earliest == 0 || time < c.earliest {
		c.earliest = time
	}
}

// finishedRound notes that perf has emptied all its buffers.
func (s *schedulerRecords) finishedRound() { s.before, s.round = s.round, max(s.round, s.latest) }

// lostAt notes that records were lost before time, since the previous record in the same buffer. In
// the file, records of other buffers may lie between them. If the CPU is not known, the previous
// record is assumed to be in the round before this one.
func (s *schedulerRecords) lostAt(time uint64, cpu int32) {
	if time == 0 {
		s.lostUntimed++
		return
	}
	from := s.before
	if cpu >= 0 && int(cpu) < len(s.cpus) {
		from = s.cpus[cpu].last
	}
	s.lost = append(s.lost, schedule.LostTime{From: min(from, time), To: time, CPU: cpu})
}

// loseBefore notes that records before the earliest one of each CPU were overwritten.
func (s *schedulerRecords) loseBefore() {
	for cpu, t := range s.cpus {
		if t.earliest != 0 {
			s.lost = append(s.lost, schedule.LostTime{To: t.earliest, CPU: int32(cpu)})
		}
	}
}

// loseAfter notes that records after the last one of each CPU were lost: no later record says so.
func (s *schedulerRecords) loseAfter() {
	if len(s.cpus) == 0 {
		s.lost = append(s.lost, schedule.LostTime{From: s.before, To: noTime, CPU: -1})
	}
	for cpu, t := range s.cpus {
		if t.last != 0 {
			s.lost = append(s.lost, schedule.LostTime{From: t.last, To: noTime, CPU: int32(cpu)})
		}
	}
}

// tracedEvent describes how to read switches or wake-ups from the samples of an event.
type tracedEvent struct {
	kind   tracedKind
	begins bool                // of a wake-up: the event is sched_waking, its beginning
	fields [3]tracepoint.Field // of a switch: prev_pid, next_pid, prev_state; of a wake-up: pid
	states switchStates
}

type tracedKind uint8

const (
	tracedNothing tracedKind = iota
	tracedSwitch
	tracedWakeup
	tracedNew // the first wake-up of a thread
)

// switchStates are the bits of prev_state according to the tracepoint's description. They differ
// between kernels.
type switchStates struct {
	disk, dead, preempted int64
}

// statesOf finds the bits in the print format of the tracepoint: `{ 0x00000002, "D" }` and, for
// preempted threads, `prev_state & (((... | 0x40) + 1) << 1) ? "+"`.
func statesOf(format *tracepoint.Format) (s switchStates) {
	for _, part := range strings.Split(format.Print, "{")[1:] {
		inside, _, _ := strings.Cut(part, "}")
		number, letter, _ := strings.Cut(inside, ",")
		bit, ok := parseNumber(strings.TrimSpace(number))
		if !ok {
			continue
		}
		switch strings.Trim(strings.TrimSpace(letter), `"`) {
		case "D":
			s.disk |= bit
		case "X", "Z", "x":
			s.dead |= bit
		}
	}
	before, _, marked := strings.Cut(format.Print, `? "+"`)
	if !marked {
		return s
	}
	if at := strings.LastIndex(before, "&"); at >= 0 {
		before = before[at+1:]
	}
	for _, word := range strings.FieldsFunc(before, func(c rune) bool { return strings.ContainsRune("()| ", c) }) {
		if n, ok := parseNumber(word); ok && word != "1" {
			s.preempted |= n
		}
	}
	if strings.Contains(before, "<<") {
		s.preempted = (s.preempted + 1) << 1
	}
	return s
}

// parseNumber parses a C constant.
func parseNumber(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 0, 64)
	return n, err == nil
}

// tracedEventOf returns how the samples of an event show switches or wake-ups, if they do.
func tracedEventOf(format *tracepoint.Format) (e tracedEvent) {
	if format == nil || format.System != "sched" {
		return e
	}
	fields := []string{"pid"}
	switch format.Name {
	case "sched_switch":
		e.kind, e.states = tracedSwitch, statesOf(format)
		fields = []string{"prev_pid", "next_pid", "prev_state"}
	case "sched_waking", "sched_wakeup":
		e.kind, e.begins = tracedWakeup, format.Name == "sched_waking"
	case "sched_wakeup_new":
		e.kind = tracedNew
	default:
		return e
	}
	for i, name := range fields {
		n := format.Field(name)
		if n < 0 || !format.Fields[n].IsNumber() {
			return tracedEvent{}
		}
		e.fields[i] = format.Fields[n]
	}
	return e
}

// findTraced finds the events that show switches and wake-ups. If several record the same switches,
// the most complete one counts. A wake-up begins with sched_waking. sched_wakeup comes later, and
// counts only if sched_waking was not recorded.
func (r *reader) findTraced() {
	waking, best, rank := false, -1, 0
	for i, e := range r.events {
		t := tracedEventOf(r.formatOf(e))
		r.traced = append(r.traced, t)
		waking = waking || t.kind == tracedWakeup && t.begins && e.samples > 0
		if n := r.rankOf(e); t.kind == tracedSwitch && n > rank {
			best, rank = i, n
		}
	}
	groups := r.hasOption("-G") || r.hasOption("--cgroup") || r.hasOption("--for-each-cgroup") // an event for each
	for i := range r.traced {
		if t := &r.traced[i]; waking && t.kind == tracedWakeup && !t.begins || t.kind == tracedSwitch && i != best && !groups {
			*t = tracedEvent{}
		}
	}
	r.judgeTraced(best)
}

// rankOf returns how complete the samples of sched_switch are: 0 if there are none.
func (r *reader) rankOf(e *event) (n int) {
	if e.samples == 0 {
		return 0
	}
	n = 1
	if e.isEvery() {
		n += 2
	}
	if r.systemWide(e) {
		n++
	}
	return n
}

// isEvery reports whether each occurrence of an event is a sample.
func (e *event) isEvery() bool { return e.flags&flagFreq == 0 && e.period <= 1 }

// judgeTraced reports samples of sched_switch that do not show switches, or not all states of
// threads. best is the event that shows switches.
func (r *reader) judgeTraced(best int) {
	for i, e := range r.events {
		f := r.formatOf(e)
		if f == nil || f.System != "sched" || f.Name != "sched_switch" || e.samples == 0 {
			continue
		}
		states := &r.traced[i].states
		switch {
		case best < 0:
			r.problem(diagnostic.Warning, diagnostic.NoOffset, "bad-format", "the description of sched_switch lacks a field prev_pid, next_pid or prev_state: its samples do not show switches")
			return
		case i == best && (states.disk == 0 || states.dead == 0 || states.preempted == 0):
			r.problem(diagnostic.Warning, diagnostic.NoOffset, "bad-format", "the description of sched_switch does not tell all values of prev_state: some waits may have the state blocked instead of preempted or disk, and ends of threads may be missing")
		}
	}
}

// schedFields has the values of a sample's fields about the scheduler.
type schedFields struct {
	kind  tracedKind
	tid   int32 // the thread that was switched out or woken up
	next  int32 // the thread that was switched in
	state schedule.State
	exits bool
}

// read reads the fields of a sample.
func (e *tracedEvent) read(raw []byte, big bool) (t schedFields) {
	if e.kind == tracedNothing {
		return t
	}
	tid, ok := e.fields[0].Number(raw, big)
	if !ok {
		return t
	}
	t = schedFields{kind: e.kind, tid: int32(tid)}
	if e.kind == tracedSwitch {
		next, ok := e.fields[1].Number(raw, big)
		state, known := e.fields[2].Number(raw, big)
		if !ok || !known {
			return schedFields{}
		}
		t.next, t.state, t.exits = int32(next), e.states.of(state), state&e.states.dead != 0
	}
	return t
}

// of returns the state of a thread that was switched out with this value of prev_state.
func (s *switchStates) of(value int64) schedule.State {
	switch {
	case value == 0, value&s.preempted != 0:
		return schedule.Preempted
	case value&s.disk != 0:
		return schedule.Disk
	}
	return schedule.Blocked
}
