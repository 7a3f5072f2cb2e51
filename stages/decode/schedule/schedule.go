// Package schedule follows which thread was on which CPU, and what the others waited for, by the
// records of Linux's scheduler (perf-wall-clock 1, 2). It knows no format: a decoder passes it the
// records in order of time.
package schedule

import (
	"cmp"
	"slices"

	"stackmill/schema"
)

// State is what a thread does, as schema.StateNames has it.
type State uint8

// The states. A thread that is in none of them is not followed yet, or has ended.
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

// Border says why the state of a thread is not known in an interval, or that the thread ended with
// it.
type Border uint8

// The borders.
const (
	Inside Border = iota // the state is known
	Start                // before the thread's first switch
	End                  // after its last switch
	Loss                 // records were lost
	Chain                // a switch is missing
	Exit                 // the thread ended: its state is known
)

func (b Border) String() string { return schema.BorderNames[b] }

// Sample refers to a sample of the recording. Followers only keep it.
type Sample struct {
	Process int32 // -1: no sample
	Row     int64 // among the samples of the process
	Stack   int32
}

// NoSample refers to no sample.
var NoSample = Sample{Process: -1}

// Interval is a thread in one state without a break.
type Interval struct {
	Thread   int32
	From, To uint64
	State    State
	Border   Border
	CPU      int32  // where it was, or from where it was switched out; -1 if that was not recorded
	Out      Sample // of the switch with which the wait began
	Waker    int32  // the thread that woke it up; -1 if no record tells
	Wakeup   Sample // the sample of that
}

// LostTime is a time in which records of a CPU were lost.
type LostTime struct {
	From, To uint64
	CPU      int32 // -1: of any
}

// Source says which records tell switches.
type Source uint8

// The sources.
const (
	Records     Source = iota // switch records: tracepoints only add states and stacks
	Tracepoints               // sched_switch of all CPUs: switch records only fill gaps
)

// idle is the thread of a CPU that has nothing to do; there is one on each CPU. Lower numbers are of
// threads that have ended.
const idle = 0

// Recording says what is known of a recording as a whole.
type Recording struct {
	Source Source
	Losses []LostTime
	// Start and End are the times of the first and the last record.
	Start, End uint64
	// CPUWide says that switch records are of CPUs, not of threads.
	CPUWide bool
	// Partial says that only some of the machine's CPUs were recorded: a thread that left one may
	// be on another.
	Partial bool
}

// Follower follows the threads of a recording. It passes intervals to a function when they end:
// those of a thread are in order, without overlap and without a hole.
type Follower struct {
	rec     Recording
	emit    func(*Interval)
	threads map[int32]*thread
	running map[int32]int32      // the thread on each CPU by the last switch; 0 is idle
	lost    map[int32][]LostTime // by CPU, -1 for what concerns all; without overlaps, in order
	traced  map[int32]tracedOut  // by thread: the tracepoint of the switch out whose record is to come
	ended   map[int32]threadEnd  // by thread: the end of the latest with that number
	breaks  int64
	on      int // threads on a CPU
}

// thread is a thread in its current state.
type thread struct {
	Interval        // without an end
	woken    uint64 // when it was woken up, 0 if it was not
	missing  bool   // a switch within the interval is missing
	exiting  bool   // it has ended, but its last switch is to come
	exited   bool   // its latest interval ends with its exit
}

// tracedOut is what a tracepoint tells about a switch out.
type tracedOut struct {
	state  State
	sample Sample
}

// threadEnd is when a thread ended. Only after its exit may there be a time without an interval before
// another thread with its number begins.
type threadEnd struct {
	time   uint64
	exited bool
}

// Follow returns a follower that emits intervals; the function must not keep them.
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

// Running returns how many threads are on a CPU.
func (f *Follower) Running() int { return f.on }

// Breaks returns how many switches were found to be missing.
func (f *Follower) Breaks() int64 { return f.breaks }

// TracedSwitch is a switch as the tracepoint sched_switch has it.
type TracedSwitch struct {
	Time   uint64
	CPU    int32
	Prev   int32
	State  State // of the thread that was switched out
	Exits  bool  // that thread has ended
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

// SwitchRecord is a switch record.
type SwitchRecord struct {
	Time      uint64
	CPU       int32 // -1 if it was not recorded
	Thread    int32
	Out       bool
	Preempted bool  // it was still runnable when it was switched out
	Other     int32 // of a record of a CPU: the next thread at a switch out, the one before at a switch in
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

// fill follows a switch record whose tracepoint is missing: it tells of another thread on its CPU
// than the tracepoint before.
func (f *Follower) fill(s *SwitchRecord) {
	last, known := f.running[s.CPU]
	switch {
	case !known || s.Thread < 0 || s.Other < 0:
	case s.Out && last == s.Thread && last != s.Other:
		f.breaks++
		f.out(s.Time, s.CPU, s.Thread, stateOf(s.Preempted), NoSample, false)
		f.in(s.Time, s.CPU, s.Other)
	case !s.Out && last == s.Other && last != s.Thread:
		f.breaks++
		f.out(s.Time, s.CPU, last, Unknown, NoSample, false)
		f.in(s.Time, s.CPU, s.Thread)
	}
}

func stateOf(preempted bool) State {
	if preempted {
		return Preempted
	}
	return Blocked
}

// recordedOut follows the switch out of a thread whose switches only records tell.
func (f *Follower) recordedOut(s *SwitchRecord) {
	tid := s.Thread
	if tid < 0 { // it ended before
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
	New    bool  // it is its first
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
			return // it may be on a CPU
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

// Fork begins a thread: it is runnable.
func (f *Follower) Fork(time uint64, tid int32) {
	if f.rec.Source != Records || f.threads[tid] != nil || tid <= idle {
		return
	}
	f.set(f.begin(tid, time, true), Preempted)
}

// Exec notes that a thread executes a program: it is on a CPU.
func (f *Follower) Exec(time uint64, tid int32) {
	if f.rec.Source != Records || f.threads[tid] != nil || tid <= idle {
		return
	}
	f.set(f.begin(tid, time, true), On)
}

// Exit ends a thread.
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

// Close ends all threads with the recording.
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

// begin begins a thread, of which nothing is known before, unless it is new. The time since another
// thread with its number ended, or since the recording began, is unknown.
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

// out switches a thread out.
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
		th.missing = th.missing || th.State != On || cpu >= 0 && th.CPU >= 0 && th.CPU != cpu // its switch in
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

// in switches a thread in.
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
		th.missing = th.missing || th.State == On // its switch out
		f.end(th, time, Inside)
	}
	f.set(th, On)
	th.CPU, th.Out, th.Waker, th.Wakeup = cpu, NoSample, -1, NoSample
}

// end ends the current interval, if it took any time; the next begins. A wait for which the thread
// was woken up is two: it was blocked until then, and waited for a CPU since.
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

// pass emits the interval up to a time.
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

// The times lost on any CPU, and on one that was not recorded.
const (
	anyCPU     = -1
	unknownCPU = -2
)

// union adds a time to a list in order of starts.
func union(list []LostTime, l LostTime) []LostTime {
	if last := len(list) - 1; last >= 0 && l.From <= list[last].To {
		list[last].To = max(list[last].To, l.To)
		return list
	}
	return append(list, l)
}

// isLost reports whether records were lost that could have changed the state in an interval: those
// of its CPU if the thread was on one, and of any CPU otherwise.
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
