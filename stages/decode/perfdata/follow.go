package perfdata

import (
	"fmt"
	"maps"
	"slices"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/bounds"
	"stackmill/stages/decode/schedule"
)

// life is a record of a fork, exec or exit.
type life struct {
	sampleRef
	kind lifeKind
	pid  int32
	tid  int32
}

type lifeKind uint8

const (
	lifeFork lifeKind = iota
	lifeExec
	lifeExit
)

// scheduleStep follows the threads of a recording through its switches. It adds the states of each
// thread, and a wait for each time that a thread was off the CPU.
type scheduleStep struct {
	r        *reader
	t        *timeline
	follower *schedule.Follower
	lives    []life             // records still to follow, in order of time
	local    map[int32]int32    // thread id that the follower has -> thread id in samples; nil: the same
	owners   map[int32]*process // by the follower's thread ids, like outs
	to       *sampleBatch       // the batch that gets the states and waits
	sink     *sinkStep          // gets them directly; nil until close, which may end any number of states
	source   schedule.Source
	clock    int32             // the event whose samples measure time on the CPU, -1 if there is none
	foreign  *processRows      // states of threads whose process is unknown
	used     map[*process]bool // processes with states
	order    []*process        // the processes in used, in order of their first state
	outs     map[int32]outRow  // thread -> its row at its latest switch out
	switches int64             // number of switches by tracepoints
}

// manyBreaks: if more than one switch in so many is missing, perf left them out.
const manyBreaks = 20

// outRow has the columns that a wait takes from the sample of the switch out.
type outRow struct {
	name   int32
	cgroup int32
}

// stateRow is a row of thread_states and, if waits is true, the wait during that state. p is nil if
// the thread's process is unknown.
type stateRow struct {
	p       *process
	state   row
	wait    row
	waits   bool
	unknown bool // there is only the wait: the states of threads are not followed
}

// The encoding of rows of states, which emit writes and statesOf reads.
const (
	borderShift = 4
	stateMask   = 1<<borderShift - 1
	// wakerShift is the position of the process number in rowWaker. The lower bits are the sample's
	// index in that process.
	wakerShift = 40
)

// noWaker is the value of rowWaker for a wait without a waker.
const noWaker = -1

// follow returns the step, nil if the recording does not say when threads were switched.
func (r *reader) follow(t *timeline) *scheduleStep {
	source, ok := r.scheduleSource()
	if !ok {
		return nil
	}
	if source == schedule.Records && !r.sched.cpuWide { // perf refuses parallelism for recordings of CPUs, too
		r.found.accesses |= parallelisms
	}
	step := &scheduleStep{
		r: r, t: t, lives: t.lives, owners: map[int32]*process{}, source: source, clock: r.clockEvent(),
		foreign: &processRows{}, used: map[*process]bool{}, outs: map[int32]outRow{},
	}
	missing := r.missingOf(source)
	switch {
	case missing < 0:
		r.problem(diagnostic.Warning, diagnostic.NoOffset, "cpus-not-recorded", "the recording does not tell whether all CPUs were recorded: a thread that is on none of the recorded ones may wait or run elsewhere, so waits cannot be measured")
	case missing > 0:
		r.problem(diagnostic.Warning, diagnostic.NoOffset, "cpus-not-recorded", "%d of %d CPUs were not recorded: a thread that is on none of the others may wait or run there, so waits cannot be measured: record with -a", missing, r.meta.online)
	}
	r.tellMissingWakeups(source)
	if r.sched.foreign {
		r.problem(diagnostic.Info, diagnostic.NoOffset, "other-namespace", "perf ran in its own process namespace: threads outside of it, and tracepoint fields, have the thread ids of the whole machine")
	}
	if source == schedule.Tracepoints {
		step.local = r.sched.local
	}
	if source == schedule.Records && !r.sched.preempts && r.oldKernel() {
		r.problem(diagnostic.Warning, diagnostic.NoOffset, "preemption-not-recorded", "%s does not record whether a switched out thread was still runnable: preempted threads have the state blocked", r.rec.OS)
	}
	if r.found.switchRefs.n > 0 {
		r.count(diagnostic.Warning, r.sched.untimed, "switch-without-time", "switch records have no time or an impossible thread, and are skipped: states of their threads are unknown at that time")
	}
	if r.overwrites() {
		r.sched.loseBefore()
	}
	if r.stats.lostSamples > r.stats.lost {
		r.sched.loseAfter()
	}
	if r.hasOption("--control") {
		r.problem(diagnostic.Warning, diagnostic.NoOffset, "maybe-paused", "perf record --control allows to pause the recording: if somebody did that, states of threads and waits during the pauses are wrong")
	}
	end := r.latestTime(t)
	step.follower = schedule.Follow(schedule.Recording{
		Source: source, Losses: r.sched.lost, Start: t.start, End: end, CPUWide: r.sched.cpuWide, Partial: missing != 0,
	}, step.emit)
	t.clock, t.follows, t.foreign, r.rec.ThreadStates = step.clock, true, step.foreign, t.threadStates
	return step
}

// schedule follows the records of a batch.
func (s *scheduleStep) schedule(to *sampleBatch) {
	s.to = to
	to.states = to.states[:0]
	row := 0
	for i := range to.list {
		own := &to.list[i]
		s.live(own.ref)
		if own.isSwitch {
			s.switched(own)
			continue
		}
		if own.rows > 0 {
			s.sample(own, row, to)
			row += int(own.rows)
			own.p.waits().seen += int64(own.rows)
		}
	}
}

// live follows the records of forks, execs and exits that precede a sample or switch.
func (s *scheduleStep) live(before sampleRef) {
	for len(s.lives) > 0 && s.lives[0].before(before) {
		l := s.lives[0]
		s.lives = s.lives[1:]
		switch l.kind {
		case lifeFork:
			s.follower.Fork(l.time, l.tid)
		case lifeExec:
			s.follower.Exec(l.time, l.tid)
		case lifeExit:
			s.follower.Exit(l.time, l.tid)
		}
	}
}

func (s *scheduleStep) switched(own *parsedSample) {
	w := &own.switched
	if s.r.sched.foreign && s.source == schedule.Tracepoints { // switch records have other thread ids than tracepoints
		return
	}
	s.own(w.tid, own.p)
	if w.out && own.p != nil {
		out, known := s.outs[w.tid]
		if !known {
			out.cgroup = noCGroup
		}
		out.name = own.name
		s.outs[w.tid] = out
	}
	s.follower.Recorded(&schedule.SwitchRecord{Time: own.ref.time, CPU: w.cpu, Thread: w.tid, Out: w.out, Preempted: w.preempt, Other: w.other})
}

func (s *scheduleStep) own(tid int32, p *process) {
	if p != nil {
		s.owners[tid] = p
	}
}

// sample follows a sample. first is the index of the sample's first row in the batch.
func (s *scheduleStep) sample(own *parsedSample, first int, to *sampleBatch) {
	if own.event == s.clock {
		own.p.measure(own.tid).add(to.rows.wide[rowPeriod][first])
		if list := to.rows.wide[rowParallelism]; list != nil {
			list[first] = int64(min(max(s.follower.Running(), 1), max(s.r.rec.CPUs, 1)))
		}
	}
	traced, waker := &own.traced, own.tid
	if traced.kind == tracedNothing || own.ref.time == 0 {
		return
	}
	if s.r.sched.foreign {
		if waker == 0 { // it may be any thread outside of the namespace
			waker = -1
		}
		if s.source == schedule.Records {
			traced.tid, traced.next = s.r.sched.local[traced.tid], s.r.sched.local[traced.next]
		}
	}
	here := schedule.Sample{Process: int32(own.p.Number), Row: own.p.waits().seen, Stack: to.rows.narrow[rowStack][first]}
	if traced.kind != tracedSwitch {
		s.own(traced.tid, own.other)
		s.follower.Wakeup(&schedule.Wakeup{Time: own.ref.time, Thread: traced.tid, New: traced.kind == tracedNew, Waker: waker, Sample: here})
		return
	}
	if s.own(traced.tid, own.switchedOut); own.switchedOut != own.p {
		here = schedule.NoSample // its stack is another process's
	}
	s.own(traced.next, own.other)
	out := outRow{cgroup: noCGroup}
	if list := to.rows.narrow[rowName]; list != nil {
		out.name = list[first]
	}
	if list := to.rows.narrow[rowCGroup]; list != nil {
		out.cgroup = list[first]
	}
	s.outs[traced.tid] = out
	s.switches++
	s.follower.Traced(&schedule.TracedSwitch{
		Time: own.ref.time, CPU: own.cpu, Prev: traced.tid, State: traced.state, Exits: traced.exits, Next: traced.next, Sample: here,
	})
}

// emit adds an interval to the batch.
func (s *scheduleStep) emit(i *schedule.Interval) {
	p, tid := s.owners[i.Thread], i.Thread
	if local := s.local[tid]; local > 0 {
		tid = local
	}
	if p != nil && !s.used[p] {
		s.used[p] = true
		s.order = append(s.order, p)
	}
	waker := int64(noWaker)
	if i.Wakeup != schedule.NoSample {
		waker = int64(i.Wakeup.Process)<<wakerShift | i.Wakeup.Row
	}
	r := stateRow{p: p}
	from, until := s.t.ns(i.From), s.t.ns(i.To)
	r.state.wide[rowTime], r.state.wide[rowPeriod], r.state.wide[rowWaker] = from, until, waker
	r.state.narrow = [narrowColumns]int32{
		rowThread: tid, rowCPU: i.CPU, rowEvent: int32(i.State) | int32(i.Border)<<borderShift, rowName: i.Waker, rowStack: -1,
	}
	if i.State.Waits() && p != nil {
		out, known := s.outs[i.Thread]
		if !known {
			out.cgroup = noCGroup
		}
		r.waits = true
		r.wait.wide[rowTime], r.wait.wide[rowPeriod], r.wait.wide[rowWaker] = until, until-from, waker
		r.wait.narrow = [narrowColumns]int32{
			rowThread: tid, rowCPU: i.CPU, rowEvent: int32(i.State), rowName: out.name, rowCGroup: out.cgroup, rowStack: p.waitStack(i),
		}
		w := p.waits()
		r.state.narrow[rowStack] = int32(w.waited)
		w.waited++
	}
	if i.State != schedule.Unknown && p != nil {
		times := p.measure(tid)
		times.until, times.name = until, s.outs[i.Thread].name
		if i.State == schedule.On {
			times.on += until - from
		}
	}
	if s.to.states = append(s.to.states, r); s.sink != nil && len(s.to.states) == batchSamples {
		s.flush()
	}
}

// waitStack returns the number of a wait's stack: the stack of the switch out, with the wait's
// state.
func (p *process) waitStack(i *schedule.Interval) int32 {
	state := decode.StateOfWait(int32(i.State))
	n, dumped := decode.DumpOfStack(i.Out.Stack)
	switch {
	case i.Out == schedule.NoSample || i.Out.Stack == -1 || int(i.Out.Process) != p.Number: // a damaged record may give the thread to another process
		return p.Stacks.Intern(&decode.RawStack{OMPState: state, Reason: decode.ReasonNoWaitStack})
	case dumped:
		p.WaitStacks = append(p.WaitStacks, decode.WaitStack{Dump: n, State: state})
		return decode.StackOfDump(len(p.WaitStacks) - 1)
	}
	return p.Stacks.InternState(i.Out.Stack, state)
}

// processWaits are the waits and states of a process's threads.
type processWaits struct {
	first     int64 // number of the process's first sample within the recording
	firstWait int64 // number of the process's first wait within the recording
	seen      int64 // number of sample rows that scheduleStep has seen
	waited    int64 // number of waits so far
	rows      processRows
	states    processRows
	times     map[int32]*threadTime // by thread
}

// waits returns the waits of a process. Most processes of a recording have no samples and need
// none.
func (p *process) waits() *processWaits {
	if p.wait == nil {
		p.wait = &processWaits{times: map[int32]*threadTime{}}
	}
	return p.wait
}

// threadTime has times of a thread, in ns.
type threadTime struct {
	on    int64 // how long it was on a CPU
	value int64 // sum of the values of its clock samples
	until int64 // end of its last known state
	name  int32 // number of its name at that time
}

// add adds the value of a sample. The sum saturates: damaged values may be too large.
func (t *threadTime) add(value int64) { t.value = bounds.Add(t.value, value) }

// measure returns the times of a thread.
func (p *process) measure(tid int32) *threadTime {
	times := p.waits().times
	t := times[tid]
	if t == nil {
		t = &threadTime{}
		times[tid] = t
	}
	return t
}

// flush passes the states of the current batch to the sink.
func (s *scheduleStep) flush() {
	s.sink.addStates(s.to.states, s.foreign)
	s.sink.limitMemory()
	s.to.states = s.to.states[:0]
}

// close ends the states of all threads with the recording, and numbers the processes that have
// states but no samples.
func (s *scheduleStep) close(sink *sinkStep) {
	s.to, s.sink = &sampleBatch{}, sink
	s.live(sampleRef{time: noTime})
	s.follower.Close()
	s.flush()
	for _, p := range s.order {
		if p.Number == 0 {
			p.rows = &processRows{}
			s.t.recorded = append(s.t.recorded, p)
			p.Number = len(s.t.recorded)
		}
	}
	sample := int64(0)
	for _, p := range s.t.recorded {
		s.unsampled(p, sink)
		w := p.waits()
		w.first, w.firstWait = sample, sample+int64(p.rows.n)
		sample = w.firstWait + int64(w.rows.n)
	}
	switch n := s.follower.Breaks(); {
	case n > s.switches/manyBreaks && s.r.stats.lost == 0:
		s.r.count(diagnostic.Warning, n, "missing-switches", fmt.Sprintf("of %d switches more were not recorded, as with a filter or a control group: the threads' states at that time are unknown, and others may be wrong", s.switches))
	case n > 0:
		s.r.count(diagnostic.Info, n, "missing-switches", "switches of threads were not recorded: the threads' states at that time are unknown")
	}
}

// threadStates passes the states of all threads.
func (t *timeline) threadStates(pass func(*decode.ThreadState) error) error {
	for _, p := range t.recorded {
		if err := t.statesOf(&p.waits().states, p.Number, p.waits().firstWait, pass); err != nil {
			return err
		}
	}
	return t.statesOf(t.foreign, 0, 0, pass)
}

// statesOf passes rows of states; firstWait is the number of the process's first wait.
func (t *timeline) statesOf(rows *processRows, process int, firstWait int64, pass func(*decode.ThreadState) error) error {
	for n := range rows.parts() {
		b, err := rows.part(n, t.r.in.space, stateFields)
		if err != nil {
			return err
		}
		for i := range b.len() {
			event, wait := b.narrow[rowEvent][i], b.narrow[rowStack][i]
			s := decode.ThreadState{
				Process: process, ThreadID: int64(b.narrow[rowThread][i]), FromNS: b.wide[rowTime][i], UntilNS: b.wide[rowPeriod][i],
				State: int(event & stateMask), Border: int(event >> borderShift), CPU: b.narrow[rowCPU][i],
				WaitSample: -1, WakerThread: int64(b.narrow[rowName][i]), WakerSample: t.wakerSample(b.wide[rowWaker][i]),
			}
			if wait >= 0 {
				s.WaitSample = firstWait + int64(wait)
			}
			if err := pass(&s); err != nil {
				return err
			}
		}
	}
	return nil
}

// unsampled adds a row without a stack for each thread that was on a CPU but has no sample that
// measures this time.
func (s *scheduleStep) unsampled(p *process, sink *sinkStep) {
	for _, tid := range slices.Sorted(maps.Keys(p.waits().times)) {
		if t := p.waits().times[tid]; t.value == 0 && t.on > 0 {
			unsampled := p.Stacks.Intern(&decode.RawStack{OMPState: decode.StateOn, Reason: decode.ReasonUnsampled})
			r := row{}
			r.wide[rowTime], r.wide[rowPeriod], r.wide[rowWaker] = t.until, t.on, noWaker
			r.narrow = [narrowColumns]int32{rowThread: tid, rowCPU: -1, rowEvent: int32(schedule.On), rowName: t.name, rowCGroup: noCGroup, rowStack: unsampled}
			sink.addOne(&p.waits().rows, &r, waitFields)
		}
	}
}

// addStates appends rows of states and of waits to their processes.
func (k *sinkStep) addStates(list []stateRow, foreign *processRows) {
	for i := range list {
		s := &list[i]
		states := foreign
		if s.p != nil {
			states = &s.p.waits().states
		}
		if !s.unknown {
			k.addOne(states, &s.state, stateFields)
		}
		if s.waits {
			k.addOne(&s.p.waits().rows, &s.wait, waitFields)
		}
	}
}

func (k *sinkStep) addOne(to *processRows, r *row, fields uint64) {
	if to.n == 0 {
		k.known = append(k.known, to)
	}
	to.addRow(r, fields)
	k.inMemory++
}
