package serve

import (
	"fmt"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// Threads of different process namespaces may have the same id, and a wake-up in an interrupt is not
// by the thread that the interrupt found on the CPU.
func TestStateOfThread(t *testing.T) {
	s := start(t, storetest.New(t, `batch 00000000000000aa a.data /a.data
experiments experiment
  a.data
thread_states process thread_id t0_ns t1_ns state waker_thread_id waker_sample border
  1 14 0 100 blocked 9 0 ''
  2 14 0 100 disk 8 1 ''
  null 14 0 100 preempted null null ''
event_formats event system position field
  sched:sched_waking sched 0 common_flags
samples sample kind process thread_id stack
  0 perf 1 9 -1
  1 perf 1 8 -1
perf_samples sample event
  0 sched:sched_waking
  1 sched:sched_waking
event_fields sample position number
  0 0 8
  1 0 16
`), nil)
	for process, want := range map[int]string{1: `"state":"blocked"`, 2: `"state":"disk"`, 0: `"state":"preempted"`} {
		got := s.get(fmt.Sprintf("/api/v1/thread-states/period?experiment=00000000000000aa&thread=14&at=50&process=%d", process))
		if !strings.Contains(got, want) {
			t.Errorf("process %d: %s, want %s", process, got, want)
		}
		if byInterrupt := strings.Contains(got, `"by_interrupt":true`); byInterrupt != (process == 1) || byInterrupt && !strings.Contains(got, `"waker":null`) {
			t.Errorf("process %d: %s", process, got)
		}
	}
}
