// Package schedule follows from the records of Linux's scheduler which thread was on which CPU, and
// what the other threads waited for (perf-data 24.1, 24.2). It does not depend on a format: a
// decoder passes it the records in order of time.
package schedule

import (
	"cmp"
	"slices"

	"stackmill/schema"
)

// State is what a thread does. Its values are indexes in schema.StateNames.
type State uint8

// The states. Unknown also is the state of a thread that is not followed yet, or has ended.
const (
	Unknown   State = iota
	On              // on a CPU
	Preempted       // taken off its CPU, runnable
	RunQueue        // woken up, waits for a CPU
	Blocked         // sleeps until something happens
	Disk            // sleeps and cannot be interrupted, mostly for a disk
)

func (s State) String() string { return schema.StateNames[s] }

// Waits reports whether a thread in the state is off the CPU.
func (s State) Waits() bool { return s >= Preempted }

// Border says why the state of a thread is unknown in an interval, or that the thread ended at the
// interval's end.
type Border uint8

// The borders, as in schema.BorderNames.
const (
	Inside Border = iota // none: the state is known
	Start                // the time before the thread's first switch
	End                  // the time after its last switch
	Loss                 // records were lost
	Chain                // a switch is missing
	Exit                 // the thread ended; its state is known
)

func (b Border) String() string { return schema.BorderNames[b] }

// Sample identifies a sample of the recording. The follower only passes it on.
type Sample struct {
	Process int32 // -1: no sample
	Row     int64 // index among the process's samples
	Stack   int32
}

// NoSample refers to no sample.
var NoSample = Sample{Process: -1}

// Interval is a period in which a thread is in one state.
type Interval struct {
	Thread   int32
	From, To uint64
	State    State
	Border   Border
	CPU      int32  // the CPU on which the thread is, or from which it was switched out; -1 if not recorded
	Out      Sample // sample of the switch out with which the wait began
	Waker    int32  // the thread that woke up Thread; -1 if unknown
	Wakeup   Sample // sample of the wake-up
}

// LostTime is a period in which records of a CPU were lost.
type LostTime struct {
	From, To uint64
	CPU      int32 // -1: of an unknown CPU
}

// Source says which records show the switches.
type Source uint8

// The sources.
const (
	Records     Source = iota // switch records: tracepoints only add states and stacks
	Tracepoints               // sched_switch of all CPUs: switch records only fill gaps
)

// idle is the thread id of the idle threads, one on each CPU. Threads with lower ids have ended.
const idle = 0

// Recording describes the recording to follow.
type Recording struct {
	Source Source
	Losses []LostTime
	// Start and End are the times of the first and the last record.
	Start, End uint64
	// CPUWide says that switch records were recorded per CPU, not per thread.
	CPUWide bool
	// Partial says that only some of the machine's CPUs were recorded: a thread that left one of
	// these may be on another CPU.
	Partial bool
}

// Follower follows the threads of a recording. It passes each interval to emit when the interval
// ends. The intervals of a thread are in order, without overlaps or gaps.
type Follower struct {
	rec     Recording
	emit    func(*Interval)
	threads map[int32]*thread
	running map[int32]int32      // CPU -> thread that was switched in last; 0: idle
	lost    map[int32][]LostTime // CPU (or anyCPU, unknownCPU) -> lost periods in order, without overlaps
	traced  map[int32]tracedOut  // thread -> tracepoint of its switch out, whose switch record is still to come
	ended   map[int32]threadEnd  // thread id -> end of the latest thread with that id
	breaks  int64
	on      int // number of threads on a CPU
}

// thread is a thread that is followed, in its current state.
type thread struct {
	Interval        // the current interval, without its end
	woken    uint64 // when it was woken up during the interval, 0 if it was not
	missing  bool   // a switch within the interval is missing
	exiting  bool   // the thread has ended, but its last switch is still to come
	exited   bool   // the thread's latest interval ended with its exit
}

// tracedOut holds what a tracepoint recorded about a switch out.
type tracedOut struct {
	state  State
	sample Sample
}

// threadEnd is when a thread ended. If its exit was recorded (exited) and a new thread gets its id,
// the time between them has no interval. Otherwise the state in that time is unknown.
type threadEnd struct {
	time   uint64
	exited bool
}

// Follow returns a follower that passes intervals to emit, which must not keep the pointer.
func Follow(rec Recording, emit func(*Interval)) *Follower {
	f := &Follower{
		rec: rec, emit: emit, threads: map[int32]*thread{}, running: map[int32]int32{}, lost: map[int32][]LostTime{},
		traced: map[int32]tracedOut{}, ended: map[int32]threadEnd{},
	}
	for _, l := range slices.SortedFunc(slices.Values(rec.Losses), func(a, b LostTime) int { return cmp.Compare(a.From, b.From) }) {
		f.lost[anyCPU] = union(f.lost[anyCPU], l)
		if l.CPU >= 0 {
			f.lost[l.CPU] = union(f.lost[l.CPU], l)
		} else {
			f.lost[unknownCPU] = union(f.lost[unknownCPU], l)
		}
	}
	return f
}

// Running returns the number of threads that are on a CPU now.
func (f *Follower) Running() int { return f.on }

// Breaks returns the number of switches that were found to be missing.
func (f *Follower) Breaks() int64 { return f.breaks }

// TracedSwitch is a switch that the tracepoint sched_switch recorded: from thread Prev to Next.
type TracedSwitch struct {
	Time   uint64
	CPU    int32
	Prev   int32
	State  State // the state of Prev after the switch
	Exits  bool  // Prev has ended
	Next   int32
	Sample Sample
}

// Traced follows a switch that a tracepoint recorded.
func (f *Follower) Traced(s *TracedSwitch) {
	if f.rec.Source == Records {
		f.traced[s.Prev] = tracedOut{s.State, s.Sample}
		return
	}
	if last, known := f.running[s.CPU]; known && last != s.Prev {
		f.breaks++
	}
	f.out(s.Time, s.CPU, s.Prev, s.State, s.Sample, s.Exits)
	f.in(s.Time, s.CPU, s.Next)
}

// SwitchRecord is a switch in or, if Out is set, a switch out of a thread, from a switch record.
type SwitchRecord struct {
	Time      uint64
	CPU       int32 // -1 if it was not recorded
	Thread    int32
	Out       bool
	Preempted bool  // the thread was still runnable when it was switched out
	Other     int32 // if CPUWide: the next thread at a switch out, the previous thread at a switch in
}

// Recorded follows a switch record.
func (f *Follower) Recorded(s *SwitchRecord) {
	switch {
	case f.rec.Source == Records && s.Out:
		f.recordedOut(s)
	case f.rec.Source == Records:
		f.in(s.Time, s.CPU, s.Thread)
	default:
		f.fill(s)
	}
}

// fill follows a switch record whose tracepoint is missing: according to the tracepoints so far,
// another thread than the record's is on the CPU after the switch.
func (f *Follower) fill(s *SwitchRecord) {
	last, known := f.running[s.CPU]
	switch {
	case !known || s.CPU < 0 || s.Thread < 0:
	case s.Out && s.Other >= 0 && last != s.Other:
		f.breaks++
		f.out(s.Time, s.CPU, s.Thread, stateOf(s.Preempted), NoSample, false)
		f.in(s.Time, s.CPU, s.Other)
	case !s.Out && last != s.Thread:
		f.breaks++
		if last == s.Other { // else it was switched out before, at an unknown time
			f.out(s.Time, s.CPU, last, Unknown, NoSample, false)
		}
		f.in(s.Time, s.CPU, s.Thread)
	}
}

func stateOf(preempted bool) State {
	if preempted {
		return Preempted
	}
	return Blocked
}

// recordedOut follows the record of a switch out if switch records are the source.
func (f *Follower) recordedOut(s *SwitchRecord) {
	tid := s.Thread
	if tid < 0 { // the thread had already ended
		tid = f.running[s.CPU]
	}
	state, sample := stateOf(s.Preempted), NoSample
	if t, traced := f.traced[tid]; traced {
		if sample = t.sample; t.state == Disk && state == Blocked {
			state = Disk
		}
		delete(f.traced, tid)
	}
	th := f.threads[tid]
	f.out(s.Time, s.CPU, tid, state, sample, th != nil && th.exiting && !s.Preempted)
}

// Wakeup is a wake-up of a thread.
type Wakeup struct {
	Time   uint64
	Thread int32
	New    bool  // the first wake-up of the thread
	Waker  int32 // the thread that woke it up, -1 if that is unknown
	Sample Sample
}

// Wakeup follows a wake-up.
func (f *Follower) Wakeup(w *Wakeup) {
	if w.Thread <= idle {
		return
	}
	th := f.threads[w.Thread]
	switch {
	case th == nil:
		if f.rec.Source == Records && !w.New {
			return // the thread may be on a CPU
		}
		th = f.begin(w.Thread, w.Time, w.New)
		f.set(th, RunQueue)
	case (th.State == Blocked || th.State == Disk) && th.woken == 0:
		th.woken = w.Time
	default:
		return
	}
	th.Waker, th.Wakeup = w.Waker, w.Sample
}

// Fork begins a thread in the state Preempted: it is runnable.
func (f *Follower) Fork(time uint64, tid int32) {
	if f.rec.Source != Records || f.threads[tid] != nil || tid <= idle {
		return
	}
	f.set(f.begin(tid, time, true), Preempted)
}

// Exec begins a thread that executes a program: it is on a CPU.
func (f *Follower) Exec(time uint64, tid int32) {
	if f.rec.Source != Records || f.threads[tid] != nil || tid <= idle {
		return
	}
	f.set(f.begin(tid, time, true), On)
}

// Exit ends a thread, or notes that its next switch out will end it.
func (f *Follower) Exit(time uint64, tid int32) {
	th := f.threads[tid]
	if th == nil || f.rec.Source != Records {
		return
	}
	if f.rec.CPUWide && th.State == On {
		th.exiting = true
		return
	}
	th.missing = th.missing || th.State != On
	f.end(th, time, Exit)
	f.remove(th)
}

// Close ends the intervals of all threads at the end of the recording.
func (f *Follower) Close() {
	tids := make([]int32, 0, len(f.threads))
	for tid := range f.threads {
		tids = append(tids, tid)
	}
	slices.Sort(tids)
	for _, tid := range tids {
		th := f.threads[tid]
		f.set(th, Unknown)
		f.end(th, f.rec.End, End)
	}
	clear(f.threads)
}

// begin begins to follow a thread. Unless the thread is new, its state is unknown since the
// recording began, or since another thread with its id ended.
func (f *Follower) begin(tid int32, time uint64, isNew bool) *thread {
	th := &thread{Interval: Interval{Thread: tid, From: time, CPU: -1, Out: NoSample, Waker: -1, Wakeup: NoSample}}
	f.threads[tid] = th
	from, gap := f.rec.Start, !isNew
	if last, again := f.ended[tid]; again {
		from, gap = last.time, gap || !last.exited
	}
	if gap && from < time {
		th.From = from
		f.end(th, time, Start)
	}
	return th
}

// set changes the state of a thread.
func (f *Follower) set(th *thread, state State) {
	if th.State == On {
		f.on--
	}
	if th.State = state; state == On {
		f.on++
	}
}

// remove forgets a thread that has ended.
func (f *Follower) remove(th *thread) {
	f.set(th, Unknown)
	f.ended[th.Thread] = threadEnd{th.From, th.exited}
	delete(f.threads, th.Thread)
}

// out follows a switch out of a thread.
func (f *Follower) out(time uint64, cpu, tid int32, state State, sample Sample, exits bool) {
	if tid <= idle {
		return
	}
	border := Inside
	if exits {
		border = Exit
	}
	th := f.threads[tid]
	if th == nil {
		th = f.begin(tid, time, false)
	} else {
		th.missing = th.missing || th.State != On || cpu >= 0 && th.CPU >= 0 && th.CPU != cpu // its switch in is missing
		f.end(th, time, border)
	}
	if exits {
		f.remove(th)
		return
	}
	f.set(th, state)
	th.CPU, th.Out = cpu, sample
	th.Waker, th.Wakeup = -1, NoSample
}

// in follows a switch in of a thread.
func (f *Follower) in(time uint64, cpu, tid int32) {
	if cpu >= 0 {
		if last := f.threads[f.running[cpu]]; last != nil && last.Thread != tid && last.State == On && last.CPU == cpu {
			f.set(last, Unknown) // its switch out is missing
		}
		f.running[cpu] = tid
	}
	if delete(f.traced, tid); tid <= idle {
		return
	}
	th := f.threads[tid]
	if th == nil {
		th = f.begin(tid, time, false)
	} else {
		th.missing = th.missing || th.State == On // its switch out is missing
		f.end(th, time, Inside)
	}
	f.set(th, On)
	th.CPU, th.Out, th.Waker, th.Wakeup = cpu, NoSample, -1, NoSample
}

// end ends the current interval and begins the next. If the thread was woken up during a wait, it
// emits two intervals: the thread was blocked until it was woken up, then waited for a CPU.
func (f *Follower) end(th *thread, time uint64, border Border) {
	if woken := th.woken; woken != 0 && border != End {
		missing := th.missing
		th.woken, th.missing = 0, false
		f.pass(th, min(woken, time), Inside)
		f.set(th, RunQueue)
		th.missing = missing
	}
	th.woken = 0
	f.pass(th, time, border)
}

// pass emits the current interval up to a time, if it is not empty.
func (f *Follower) pass(th *thread, time uint64, border Border) {
	i := th.Interval
	i.To, i.Border = time, border
	switch {
	case border == Start || border == End:
		i.State = Unknown
	case th.missing, i.State == Unknown, f.rec.Partial && i.State.Waits():
		i.State, i.Border = Unknown, Chain
	case f.isLost(&i):
		i.State, i.Border = Unknown, Loss
	}
	if i.State == Unknown {
		i.CPU, i.Out, i.Waker, i.Wakeup = -1, NoSample, -1, NoSample
	}
	if i.To > i.From {
		f.emit(&i)
		th.exited = i.Border == Exit
	}
	th.From, th.missing = max(th.From, time), false
}

// The keys in Follower.lost for losses on any CPU, and for losses whose CPU was not recorded.
const (
	anyCPU     = -1
	unknownCPU = -2
)

// union adds a period to a list that is sorted by start. l must not start before the others.
func union(list []LostTime, l LostTime) []LostTime {
	if last := len(list) - 1; last >= 0 && l.From <= list[last].To {
		list[last].To = max(list[last].To, l.To)
		return list
	}
	return append(list, l)
}

// isLost reports whether lost records could have changed the state in an interval. If the thread
// was on a CPU, only losses on that CPU or on an unknown one count, otherwise all losses.
func (f *Follower) isLost(i *Interval) bool {
	if i.State != On || i.CPU < 0 {
		return overlaps(f.lost[anyCPU], i)
	}
	return overlaps(f.lost[i.CPU], i) || overlaps(f.lost[unknownCPU], i)
}

func overlaps(list []LostTime, i *Interval) bool {
	at, _ := slices.BinarySearchFunc(list, i.From, func(l LostTime, from uint64) int {
		if l.To <= from {
			return -1
		}
		return 1
	})
	return at < len(list) && list[at].From < i.To
}
