package export

import (
	"cmp"
	"fmt"
)

// Labels of threads whose id or name was not recorded.
const noThread, noName = "<no thread>", "<no name>"

// thread returns the name of the thread, or of the group of threads, by which a sample is separated from others; ""
// if they are not separated by thread. A thread is NAME-PID/TID, as in stackcollapse-perf.pl and inferno, with the
// experiment's name before it if there are several experiments.
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
	if s.multiple {
		label = e.name + " " + label
	}
	return label
}
