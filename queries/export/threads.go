package export

import (
	"cmp"
	"fmt"
)

// The labels of threads about which nothing was recorded.
const noThread, noName = "<no thread>", "<no name>"

// thread returns the label of the thread, or of the name of threads, that a sample counts for;
// empty if stacks are not told apart by it. A thread has the label that stackcollapse-perf.pl
// and inferno give it, NAME-PID/TID, and of several experiments the experiment's name.
func (s *selection) thread(e *experiment, of *sample) string {
	switch {
	case s.by == byName:
		return cmp.Or(of.name, noName)
	case s.by != byThread:
		return ""
	}
	label := noThread
	if pid := e.processes[of.process].pid; of.name != "" || of.thread != 0 {
		label = fmt.Sprintf("%s-%d/%d", cmp.Or(of.name, "thread"), pid, of.thread)
	}
	if s.many {
		label = e.name + " " + label
	}
	return label
}
