package schedule

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// event passes a record of the scheduler to a follower.
type event func(*Follower)

// sampleAt is the sample of a tracepoint at a time.
func sampleAt(time uint64) Sample { return Sample{Process: 1, Row: int64(time)} }

// traced is a switch as a tracepoint records it.
func traced(time uint64, cpu, prev int32, state State, next int32) event {
	return func(f *Follower) {
		f.Traced(&TracedSwitch{Time: time, CPU: cpu, Prev: prev, State: state, Next: next, Sample: sampleAt(time)})
	}
}

// tracedExit is the last switch of a thread.
func tracedExit(time uint64, cpu, prev, next int32) event {
	return func(f *Follower) {
		f.Traced(&TracedSwitch{Time: time, CPU: cpu, Prev: prev, State: Blocked, Exits: true, Next: next, Sample: sampleAt(time)})
	}
}

// in, out and preempt return switch records: of a CPU if other is a thread, otherwise of a thread.
func in(time uint64, cpu, tid, other int32) event {
	return func(f *Follower) { f.Recorded(&SwitchRecord{Time: time, CPU: cpu, Thread: tid, Other: other}) }
}

func out(time uint64, cpu, tid, other int32) event {
	return func(f *Follower) {
		f.Recorded(&SwitchRecord{Time: time, CPU: cpu, Thread: tid, Out: true, Other: other})
	}
}

func preempt(time uint64, cpu, tid, other int32) event {
	return func(f *Follower) {
		f.Recorded(&SwitchRecord{Time: time, CPU: cpu, Thread: tid, Out: true, Preempted: true, Other: other})
	}
}

func wake(time uint64, tid, waker int32) event {
	return func(f *Follower) {
		f.Wakeup(&Wakeup{Time: time, Thread: tid, Waker: waker, Sample: sampleAt(time)})
	}
}

func wakeNew(time uint64, tid, waker int32) event {
	return func(f *Follower) {
		f.Wakeup(&Wakeup{Time: time, Thread: tid, New: true, Waker: waker, Sample: sampleAt(time)})
	}
}

func fork(time uint64, tid int32) event { return func(f *Follower) { f.Fork(time, tid) } }
func exec(time uint64, tid int32) event { return func(f *Follower) { f.Exec(time, tid) } }
func exit(time uint64, tid int32) event { return func(f *Follower) { f.Exit(time, tid) } }

// text writes an interval as `THREAD FROM-TO STATE` and what else is known: the border, the CPU,
// the time of the sample at the switch out, the waker, and the time of the waker's sample.
func text(i *Interval) string {
	s := fmt.Sprintf("%d %d-%d %s", i.Thread, i.From, i.To, i.State)
	if i.Border != Inside {
		s += " " + i.Border.String()
	}
	if i.CPU >= 0 {
		s += fmt.Sprint(" cpu ", i.CPU)
	}
	if i.Out != NoSample {
		s += fmt.Sprint(" out ", i.Out.Row)
	}
	if i.Waker >= 0 {
		s += fmt.Sprint(" waker ", i.Waker)
	}
	if i.Wakeup != NoSample {
		s += fmt.Sprint(" wakeup ", i.Wakeup.Row)
	}
	return s
}

// followAll returns the intervals of all threads, each thread's in order.
func followAll(rec Recording, events []event) (list []string, f *Follower) {
	var intervals []Interval
	f = Follow(rec, func(i *Interval) { intervals = append(intervals, *i) })
	for _, e := range events {
		e(f)
	}
	f.Close()
	slices.SortStableFunc(intervals, func(a, b Interval) int { return int(a.Thread - b.Thread) })
	for _, i := range intervals {
		list = append(list, text(&i))
	}
	return list, f
}

// A thread is in the state that the records show, and in the state Unknown where they show none.
func TestFollow(t *testing.T) {
	records := Recording{Start: 1, End: 100}
	cpus := Recording{Start: 1, End: 100, CPUWide: true}
	traces := Recording{Start: 1, End: 100, Source: Tracepoints, CPUWide: true}
	for _, tt := range []struct {
		name   string
		rec    Recording
		events []event
		want   []string
		breaks int64
	}{
		{name: "records: blocked and preempted", rec: records,
			events: []event{in(10, 2, 7, 0), out(20, 2, 7, 0), in(30, 3, 7, 0), preempt(40, 3, 7, 0), in(50, 3, 7, 0)},
			want: []string{"7 1-10 unknown start", "7 10-20 on cpu 2", "7 20-30 blocked cpu 2", "7 30-40 on cpu 3", "7 40-50 preempted cpu 3",
				"7 50-100 unknown end"}},
		{name: "records: CPUs are not recorded", rec: records,
			events: []event{in(10, -1, 7, 0), out(20, -1, 7, 0), in(30, -1, 7, 0)},
			want:   []string{"7 1-10 unknown start", "7 10-20 on", "7 20-30 blocked", "7 30-100 unknown end"}},
		{name: "records: a tracepoint adds the stack and the disk", rec: records,
			events: []event{in(10, 2, 7, 0), traced(19, 2, 7, Disk, 0), out(20, 2, 7, 0), in(30, 2, 7, 0), traced(39, 2, 7, Blocked, 0), out(40, 2, 7, 0),
				in(50, 2, 7, 0), out(60, 2, 7, 0), in(70, 2, 7, 0)},
			want: []string{"7 1-10 unknown start", "7 10-20 on cpu 2", "7 20-30 disk cpu 2 out 19", "7 30-40 on cpu 2", "7 40-50 blocked cpu 2 out 39",
				"7 50-60 on cpu 2", "7 60-70 blocked cpu 2", "7 70-100 unknown end"}},
		{name: "records: the preempt bit is believed, not the tracepoint", rec: records,
			events: []event{in(10, 2, 7, 0), traced(19, 2, 7, Disk, 0), preempt(20, 2, 7, 0), in(30, 2, 7, 0), traced(39, 2, 7, Preempted, 0), out(40, 2, 7, 0), in(50, 2, 7, 0)},
			want: []string{"7 1-10 unknown start", "7 10-20 on cpu 2", "7 20-30 preempted cpu 2 out 19", "7 30-40 on cpu 2", "7 40-50 blocked cpu 2 out 39",
				"7 50-100 unknown end"}},
		{name: "records: a thread that perf was attached to while it ran", rec: records,
			events: []event{traced(19, 2, 7, Disk, 0), out(20, 2, 7, 0), in(30, 2, 7, 0)},
			want:   []string{"7 1-20 unknown start", "7 20-30 disk cpu 2 out 19", "7 30-100 unknown end"}},
		{name: "records: a wake-up of an unknown thread, which may run", rec: records,
			events: []event{wake(10, 7, 9), in(20, 2, 7, 0)}, want: []string{"7 1-20 unknown start", "7 20-100 unknown end"}},
		{name: "records: a wake-up makes a wait two", rec: records,
			events: []event{in(10, 2, 7, 0), traced(20, 2, 7, Blocked, 0), out(21, 2, 7, 0), wake(30, 7, 9), in(40, 3, 7, 0)},
			want: []string{"7 1-10 unknown start", "7 10-21 on cpu 2", "7 21-30 blocked cpu 2 out 20 waker 9 wakeup 30", "7 30-40 runqueue cpu 2 out 20 waker 9 wakeup 30",
				"7 40-100 unknown end"}},
		{name: "records: fork, exec and exit", rec: records,
			events: []event{fork(10, 7), in(20, 2, 7, 0), exit(30, 7), exec(40, 8), out(50, 2, 8, 0), in(60, 2, 8, 0), exit(70, 8)},
			want:   []string{"7 10-20 preempted", "7 20-30 on exit cpu 2", "8 40-50 on", "8 50-60 blocked cpu 2", "8 60-70 on exit cpu 2"}},
		{name: "records: a fork is the beginning, not the wake-up after it", rec: records,
			events: []event{fork(10, 7), wakeNew(11, 7, 9), in(20, 2, 7, 0)}, want: []string{"7 10-20 preempted", "7 20-100 unknown end"}},
		{name: "records: a first wake-up", rec: records,
			events: []event{wakeNew(10, 7, 9), fork(11, 7), in(20, 2, 7, 0)},
			want:   []string{"7 10-20 runqueue waker 9 wakeup 10", "7 20-100 unknown end"}},
		{name: "records: exec does not change a thread", rec: records,
			events: []event{fork(10, 7), in(20, 2, 7, 0), exec(30, 7), out(40, 2, 7, 0), in(50, 2, 7, 0)},
			want:   []string{"7 10-20 preempted", "7 20-40 on cpu 2", "7 40-50 blocked cpu 2", "7 50-100 unknown end"}},
		{name: "records: after its exit, a thread's number is another thread's", rec: records,
			events: []event{fork(10, 7), in(20, 2, 7, 0), exit(30, 7), fork(50, 7), in(60, 2, 7, 0)},
			want:   []string{"7 10-20 preempted", "7 20-30 on exit cpu 2", "7 50-60 preempted", "7 60-100 unknown end"}},
		{name: "records: after its exit, a number comes back of which nothing tells the beginning", rec: records,
			events: []event{fork(10, 7), in(20, 2, 7, 0), exit(30, 7), in(60, 2, 7, 0), out(70, 2, 7, 0), in(80, 2, 7, 0)},
			want: []string{"7 10-20 preempted", "7 20-30 on exit cpu 2", "7 30-60 unknown start", "7 60-70 on cpu 2", "7 70-80 blocked cpu 2",
				"7 80-100 unknown end"}},
		{name: "records: an exit without a switch in", rec: records,
			events: []event{fork(10, 7), in(20, 2, 7, 0), out(30, 2, 7, 0), exit(40, 7)},
			want:   []string{"7 10-20 preempted", "7 20-30 on cpu 2", "7 30-40 unknown chain"}},
		{name: "records of CPUs: the last switch out is after the exit, also without a number", rec: cpus,
			events: []event{in(10, 2, 7, 0), exit(20, 7), out(30, 2, 7, 0), in(31, 2, 8, 7), exit(40, 8), out(50, 2, -1, 0)},
			want:   []string{"7 1-10 unknown start", "7 10-30 on exit cpu 2", "8 1-31 unknown start", "8 31-50 on exit cpu 2"}},
		{name: "records of CPUs: a thread that exits is preempted", rec: cpus,
			events: []event{in(10, 2, 7, 0), exit(20, 7), preempt(25, 2, 7, 0), in(30, 2, 7, 0), out(40, 2, 7, 0)},
			want:   []string{"7 1-10 unknown start", "7 10-25 on cpu 2", "7 25-30 preempted cpu 2", "7 30-40 on exit cpu 2"}},
		{name: "records of CPUs: no number, no CPU", rec: cpus,
			events: []event{in(10, 2, 7, 0), out(20, -1, -1, 0), out(30, 3, -1, 0)}, want: []string{"7 1-10 unknown start", "7 10-100 unknown end"}},
		{name: "records: a missing switch out, and a missing switch in", rec: records,
			events: []event{in(10, 2, 7, 0), in(20, 2, 7, 0), out(30, 2, 7, 0), out(40, 2, 7, 0), in(50, 2, 7, 0)},
			want: []string{"7 1-10 unknown start", "7 10-20 unknown chain", "7 20-30 on cpu 2", "7 30-40 unknown chain", "7 40-50 blocked cpu 2",
				"7 50-100 unknown end"}},
		{name: "records: idle is no thread", rec: cpus,
			events: []event{in(10, 2, 0, 7), out(20, 2, 0, 7), wake(25, 0, 7), in(30, 2, 0, 7), traced(40, 2, 0, Blocked, 7), fork(50, 0), exec(50, 0), exit(60, 0)}},
		{name: "records: times without length", rec: Recording{Start: 10, End: 30},
			events: []event{in(10, 2, 7, 0), out(20, 2, 7, 0), wake(20, 7, 9), in(20, 2, 7, 0), out(30, 2, 7, 0), in(30, 2, 7, 0)},
			want:   []string{"7 10-20 on cpu 2", "7 20-30 on cpu 2"}},

		{name: "tracepoints: blocked, disk, preempted and unknown borders", rec: traces,
			events: []event{traced(10, 2, 0, Preempted, 7), traced(20, 2, 7, Blocked, 0), traced(30, 2, 0, Preempted, 7), traced(40, 2, 7, Disk, 8),
				traced(50, 2, 8, Preempted, 7), traced(60, 2, 7, Preempted, 8)},
			want: []string{"7 1-10 unknown start", "7 10-20 on cpu 2", "7 20-30 blocked cpu 2 out 20", "7 30-40 on cpu 2", "7 40-50 disk cpu 2 out 40",
				"7 50-60 on cpu 2", "7 60-100 unknown end",
				"8 1-40 unknown start", "8 40-50 on cpu 2", "8 50-60 preempted cpu 2 out 50", "8 60-100 unknown end"}},
		{name: "tracepoints: the first wake-up counts", rec: traces,
			events: []event{traced(10, 2, 0, Preempted, 7), traced(20, 2, 7, Disk, 0), wake(30, 7, 9), wake(35, 7, 10), traced(40, 2, 0, Preempted, 7)},
			want: []string{"7 1-10 unknown start", "7 10-20 on cpu 2", "7 20-30 disk cpu 2 out 20 waker 9 wakeup 30", "7 30-40 runqueue cpu 2 out 20 waker 9 wakeup 30",
				"7 40-100 unknown end"}},
		{name: "tracepoints: wake-ups of running and preempted threads are ignored", rec: traces,
			events: []event{traced(10, 2, 0, Preempted, 7), wake(15, 7, 9), traced(20, 2, 7, Preempted, 8), wake(25, 7, 9), traced(30, 2, 8, Blocked, 7), traced(40, 2, 7, Blocked, 0)},
			want: []string{"7 1-10 unknown start", "7 10-20 on cpu 2", "7 20-30 preempted cpu 2 out 20", "7 30-40 on cpu 2", "7 40-100 unknown end",
				"8 1-20 unknown start", "8 20-30 on cpu 2", "8 30-100 unknown end"}},
		{name: "tracepoints: a wake-up that no switch in follows", rec: traces,
			events: []event{traced(10, 2, 0, Preempted, 7), traced(20, 2, 7, Blocked, 0), wake(30, 7, 9)},
			want:   []string{"7 1-10 unknown start", "7 10-20 on cpu 2", "7 20-100 unknown end"}},
		{name: "tracepoints: a thread first seen when it is woken up, and a new one", rec: traces,
			events: []event{wake(10, 7, 9), traced(20, 2, 0, Preempted, 7), wakeNew(30, 8, 7), traced(40, 2, 7, Blocked, 8)},
			want: []string{"7 1-10 unknown start", "7 10-20 runqueue waker 9 wakeup 10", "7 20-40 on cpu 2", "7 40-100 unknown end",
				"8 30-40 runqueue waker 7 wakeup 30", "8 40-100 unknown end"}},
		{name: "tracepoints: exit; records of lives do not count", rec: traces,
			events: []event{fork(5, 7), exec(6, 7), traced(10, 2, 0, Preempted, 7), exit(15, 7), tracedExit(20, 2, 7, 0), wakeNew(30, 7, 9), traced(40, 2, 0, Preempted, 7)},
			want:   []string{"7 1-10 unknown start", "7 10-20 on exit cpu 2", "7 30-40 runqueue waker 9 wakeup 30", "7 40-100 unknown end"}},
		{name: "tracepoints: a number comes back after an exit", rec: traces,
			events: []event{traced(10, 2, 0, Preempted, 7), tracedExit(20, 2, 7, 0), traced(40, 2, 0, Preempted, 7), traced(50, 2, 7, Blocked, 0)},
			want:   []string{"7 1-10 unknown start", "7 10-20 on exit cpu 2", "7 20-40 unknown start", "7 40-50 on cpu 2", "7 50-100 unknown end"}},
		{name: "tracepoints: an exit without a switch in", rec: traces,
			events: []event{wake(10, 7, 9), tracedExit(20, 2, 7, 0), wakeNew(30, 7, 9), traced(40, 2, 0, Preempted, 7)},
			want: []string{"7 1-10 unknown start", "7 10-20 unknown chain", "7 20-30 unknown start", "7 30-40 runqueue waker 9 wakeup 30",
				"7 40-100 unknown end"}},
		{name: "tracepoints: a switch is missing", rec: traces, breaks: 1,
			events: []event{traced(10, 2, 0, Preempted, 7), traced(20, 3, 0, Preempted, 8), traced(25, 3, 8, Blocked, 0), traced(30, 2, 8, Blocked, 0),
				traced(40, 2, 0, Preempted, 7), traced(45, 2, 7, Blocked, 8), traced(50, 2, 8, Blocked, 7)},
			want: []string{"7 1-10 unknown start", "7 10-40 unknown chain", "7 40-45 on cpu 2", "7 45-50 blocked cpu 2 out 45", "7 50-100 unknown end",
				"8 1-20 unknown start", "8 20-25 on cpu 3", "8 25-30 unknown chain", "8 30-45 blocked cpu 2 out 30", "8 45-50 on cpu 2",
				"8 50-100 unknown end"}},
		{name: "tracepoints: a missing switch out that the thread's next switch in tells already", rec: traces, breaks: 1,
			events: []event{traced(10, 2, 0, Preempted, 7), traced(20, 3, 0, Preempted, 7), traced(30, 2, 0, Preempted, 8), traced(40, 3, 7, Blocked, 0)},
			want: []string{"7 1-10 unknown start", "7 10-20 unknown chain", "7 20-40 on cpu 3", "7 40-100 unknown end",
				"8 1-30 unknown start", "8 30-100 unknown end"}},
		{name: "tracepoints: a switch out on another CPU", rec: traces,
			events: []event{traced(10, 2, 0, Preempted, 7), traced(20, 3, 7, Blocked, 0), traced(30, 3, 0, Preempted, 7)},
			want:   []string{"7 1-10 unknown start", "7 10-20 unknown chain", "7 20-30 blocked cpu 3 out 20", "7 30-100 unknown end"}},
		{name: "tracepoints: a record of the CPU fills the missing switch", rec: traces, breaks: 1,
			events: []event{traced(10, 2, 0, Preempted, 7), in(11, 2, 7, 0), preempt(21, 2, 7, 8), in(22, 2, 8, 7), traced(30, 2, 8, Blocked, 7), out(31, 2, 8, 7), in(32, 2, 7, 8),
				traced(40, 2, 7, Blocked, 0), out(41, 2, 7, 0)},
			want: []string{"7 1-10 unknown start", "7 10-21 on cpu 2", "7 21-30 preempted cpu 2", "7 30-40 on cpu 2", "7 40-100 unknown end",
				"8 1-21 unknown start", "8 21-30 on cpu 2", "8 30-100 unknown end"}},
		{name: "tracepoints: only the switch in fills, so that the wait is not known", rec: traces, breaks: 1,
			events: []event{traced(10, 2, 0, Preempted, 7), in(22, 2, 8, 7), traced(30, 2, 8, Blocked, 7), traced(40, 2, 7, Blocked, 0)},
			want: []string{"7 1-10 unknown start", "7 10-22 on cpu 2", "7 22-30 unknown chain", "7 30-40 on cpu 2", "7 40-100 unknown end",
				"8 1-22 unknown start", "8 22-30 on cpu 2", "8 30-100 unknown end"}},
		{name: "tracepoints: records that fill nothing", rec: traces,
			events: []event{in(5, 2, 7, 0), traced(10, 2, 0, Preempted, 7), in(15, 2, 7, -1), out(16, 2, 9, -1), out(17, 2, -1, 8), in(18, 2, -1, 8), out(19, 4, 7, 8), traced(20, 2, 7, Blocked, 0)},
			want:   []string{"7 1-10 unknown start", "7 10-20 on cpu 2", "7 20-100 unknown end"}},
		{name: "tracepoints: a record of the CPU fills a switch in after threads that have no records", rec: traces, breaks: 1,
			events: []event{traced(10, 2, 0, Preempted, 7), traced(20, 2, 7, Preempted, 8), in(30, 2, 7, 9), traced(40, 2, 7, Blocked, 0)},
			want: []string{"7 1-10 unknown start", "7 10-20 on cpu 2", "7 20-30 preempted cpu 2 out 20", "7 30-40 on cpu 2", "7 40-100 unknown end",
				"8 1-20 unknown start", "8 20-100 unknown end"}},
		{name: "tracepoints: a thread without switches in and out, while records of the CPU show others", rec: traces, breaks: 2,
			events: []event{traced(10, 2, 0, Preempted, 7), out(15, 2, 9, 8), in(16, 2, 8, 9), traced(20, 2, 7, Blocked, 0)},
			want: []string{"7 1-10 unknown start", "7 10-20 unknown chain", "7 20-100 unknown end", "8 1-15 unknown start", "8 15-100 unknown end",
				"9 1-15 unknown start", "9 15-100 unknown end"}},
		{name: "tracepoints: records begin before the recording", rec: Recording{Start: 50, End: 60, Source: Tracepoints},
			events: []event{traced(10, 2, 0, Preempted, 7), traced(20, 2, 7, Blocked, 0)}, want: []string{"7 10-20 on cpu 2", "7 20-60 unknown end"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, f := followAll(tt.rec, tt.events)
			if diff := gocmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if f.Breaks() != tt.breaks || f.Running() != 0 {
				t.Errorf("%d breaks, want %d; %d threads run after the end", f.Breaks(), tt.breaks, f.Running())
			}
		})
	}
}

// Lost records hide the state of the thread on the CPU that lost them, and of all waiting threads.
// If the CPU of the loss or of the thread is unknown, they hide the thread's state in any case.
func TestLosses(t *testing.T) {
	switches := func(cpu int32) []event {
		return []event{in(10, cpu, 7, 0), out(30, cpu, 7, 0), wake(40, 7, 9), in(50, cpu, 7, 0), out(60, cpu, 7, 0), in(70, cpu, 7, 0)}
	}
	for _, tt := range []struct {
		name   string
		cpu    int32
		losses []LostTime
		want   string // states of the thread: on, blocked, in the run queue, on, blocked
	}{
		{"none", 2, nil, "on blocked runqueue on blocked"},
		{"on its CPU", 2, []LostTime{{15, 20, 2}}, "loss blocked runqueue on blocked"},
		{"on another CPU", 2, []LostTime{{15, 20, 3}}, "on blocked runqueue on blocked"},
		{"on an unknown CPU", 2, []LostTime{{15, 20, -1}}, "loss blocked runqueue on blocked"},
		{"on any CPU while the thread's is unknown", -1, []LostTime{{15, 20, 3}}, "loss blocked runqueue on blocked"},
		{"on another CPU while it is blocked", 2, []LostTime{{32, 33, 3}}, "on loss runqueue on blocked"},
		{"on another CPU while it waits for a CPU", 2, []LostTime{{42, 43, 3}}, "on blocked loss on blocked"},
		{"over a border", 2, []LostTime{{25, 35, 2}}, "loss loss runqueue on blocked"},
		{"over all", 2, []LostTime{{5, 90, 2}}, "loss loss loss loss loss"},
		{"between borders", 2, []LostTime{{30, 40, 2}}, "on loss runqueue on blocked"},
		{"before and after all", 2, []LostTime{{1, 10, 2}, {70, 100, 2}}, "on blocked runqueue on blocked"},
		{"two that overlap, not in order", 2, []LostTime{{52, 62, 3}, {12, 14, 2}, {13, 20, -1}, {61, 64, 2}}, "loss blocked runqueue on loss"},
		{"in no time", 2, []LostTime{{35, 35, 3}}, "on loss runqueue on blocked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			f := Follow(Recording{Start: 1, End: 100, Losses: tt.losses}, func(i *Interval) {
				switch {
				case i.Border == Start || i.Border == End:
				case i.State != Unknown:
					got += i.State.String() + " "
				default:
					got += i.Border.String() + " "
				}
			})
			for _, e := range switches(tt.cpu) {
				e(f)
			}
			f.Close()
			if got != tt.want+" " {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// Running counts the threads on CPUs.
func TestRunning(t *testing.T) {
	f := Follow(Recording{Start: 1, End: 100}, func(*Interval) {})
	for i, step := range []struct {
		event event
		want  int
	}{
		{in(10, 1, 7, 0), 1}, {in(11, 2, 8, 0), 2}, {in(12, 2, 8, 0), 2}, {out(13, 1, 7, 0), 1}, {out(14, 1, 7, 0), 1}, {out(15, 1, 9, 0), 1},
		{exec(16, 10), 2}, {fork(17, 11), 2}, {exit(18, 8), 1}, {exit(19, 8), 1}, {wake(20, 7, 1), 1}, {in(21, 1, 0, 0), 1}, {exit(22, 10), 0},
	} {
		if step.event(f); f.Running() != step.want {
			t.Errorf("step %d: %d, want %d", i, f.Running(), step.want)
		}
	}
}

// checkAdjoining checks that intervals are not empty; that those of a thread adjoin, except between
// an exit and the beginning of another thread with the same id; and that a CPU runs one thread at a
// time.
func checkAdjoining(list []Interval) error {
	last := map[int32]Interval{}
	for _, i := range list {
		before, known := last[i.Thread]
		last[i.Thread] = i
		switch {
		case i.Thread == 0:
			return fmt.Errorf("idle is a thread: %s", text(&i))
		case i.To <= i.From:
			return fmt.Errorf("no time: %s", text(&i))
		case known && before.To > i.From:
			return fmt.Errorf("overlap: %s and %s", text(&before), text(&i))
		case known && before.To < i.From && before.Border != Exit:
			return fmt.Errorf("a hole: %s and %s", text(&before), text(&i))
		case (i.State == Unknown) != (i.Border != Inside && i.Border != Exit):
			return fmt.Errorf("the border contradicts the state: %s", text(&i))
		case i.Border == Exit && i.State != On:
			return fmt.Errorf("a thread ends that does not run: %s", text(&i))
		case i.State == Unknown && (i.CPU >= 0 || i.Out != NoSample || i.Waker >= 0 || i.Wakeup != NoSample):
			return fmt.Errorf("known of what is not: %s", text(&i))
		case i.State == On && (i.Out != NoSample || i.Waker >= 0):
			return fmt.Errorf("a wait on a CPU: %s", text(&i))
		}
	}
	list = slices.DeleteFunc(slices.Clone(list), func(i Interval) bool { return i.State != On || i.CPU < 0 })
	slices.SortFunc(list, func(a, b Interval) int { return cmp.Or(int(a.CPU-b.CPU), int(a.From)-int(b.From)) })
	for n := 1; n < len(list); n++ {
		if a, b := &list[n-1], &list[n]; a.CPU == b.CPU && a.To > b.From {
			return fmt.Errorf("two threads on a CPU: %s and %s", text(a), text(b))
		}
	}
	return nil
}

// Whatever the records are, the intervals of a thread adjoin, a CPU runs one thread at a time, and
// Running returns the number of threads on CPUs.
func TestAnyRecords(t *testing.T) {
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 1))
		rec := Recording{Source: Source(random.IntN(2)), CPUWide: random.IntN(2) == 0, Start: random.Uint64N(20), End: 300}
		for range random.IntN(4) {
			from := random.Uint64N(200)
			rec.Losses = append(rec.Losses, LostTime{from, from + random.Uint64N(10), int32(random.IntN(4)) - 1})
		}
		var list []Interval
		f := Follow(rec, func(i *Interval) { list = append(list, *i) })
		now := rec.Start
		for range random.IntN(150) {
			now += random.Uint64N(3)
			cpu, tid, other := int32(random.IntN(4))-1, int32(random.IntN(6))-1, int32(random.IntN(6))-1
			state := Preempted + State(random.IntN(4))
			switch random.IntN(9) {
			case 0, 1:
				f.Traced(&TracedSwitch{Time: now, CPU: max(cpu, 0), Prev: max(tid, 0), State: state, Exits: random.IntN(8) == 0, Next: max(other, 0), Sample: sampleAt(now)})
			case 2, 3:
				f.Recorded(&SwitchRecord{Time: now, CPU: cpu, Thread: tid, Out: true, Preempted: random.IntN(2) == 0, Other: other})
			case 4, 5:
				f.Recorded(&SwitchRecord{Time: now, CPU: cpu, Thread: max(tid, 0), Other: other})
			case 6:
				f.Wakeup(&Wakeup{Time: now, Thread: max(tid, 0), New: random.IntN(4) == 0, Waker: max(other, 1), Sample: sampleAt(now)})
			case 7:
				f.Exit(now, max(tid, 1))
			default:
				if random.IntN(2) == 0 {
					f.Fork(now, max(tid, 1))
				} else {
					f.Exec(now, max(tid, 1))
				}
			}
			running, onCPU := 0, map[int32]int32{}
			for _, th := range f.threads {
				if th.State != On {
					continue
				}
				if running++; th.CPU >= 0 && onCPU[th.CPU] != 0 {
					t.Fatalf("seed %d: threads %d and %d are on CPU %d", seed, onCPU[th.CPU], th.Thread, th.CPU)
				}
				onCPU[th.CPU] = th.Thread
			}
			if f.Running() != running {
				t.Fatalf("seed %d: %d threads run, want %d", seed, f.Running(), running)
			}
		}
		f.Close()
		if err := checkAdjoining(list); err != nil {
			t.Fatalf("seed %d, %+v: %v", seed, rec, err)
		}
		if f.Running() != 0 || f.Breaks() < 0 {
			t.Fatalf("seed %d: %d threads run after the end, %d breaks", seed, f.Running(), f.Breaks())
		}
		for i := range list {
			if rec.Start > list[i].From || list[i].To > rec.End {
				t.Fatalf("seed %d: %s is outside the recording", seed, text(&list[i]))
			}
		}
	}
}
