package export

import (
	"cmp"
	"fmt"
)

// Labels of threads without a recorded id or name.
const noThread, noName = "<no thread>", "<no name>"

// thread returns the label of a sample's thread or thread name, or "" if that does not separate stacks. The label of a
// thread is NAME-PID/TID, as in stackcollapse-perf.pl and inferno, after the experiment's name if there are several.
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
