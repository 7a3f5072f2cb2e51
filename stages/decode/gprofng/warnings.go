package gprofng

import (
	"fmt"
	"strings"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
)

// collectorWarning is a cwarn or cerror event of the log (gprofng-experiment 2.4).
type collectorWarning struct {
	kind   string
	id     string
	text   string // the parameter
	file   string
	offset int64
}

// The collector's warning that the profiling timer does not run as requested.
const warningTimerChanged = "207"

// warningTexts are the meanings of the collector's warnings; %s is their parameter.
var warningTexts = map[string]string{
	"201": "the experiment was written to a file system of type %s, which may distort data",
	"202": "the profiling interval is not the one requested: %s us",
	"203": "the experiment reached its size limit: what followed was not recorded",
	"204": "the handler of SIGPROF was changed during the run (%s): clock profiling may have stopped",
	"205": "the rate of periodic samples was adjusted: %s us",
	"206": "the program tried to set the profiling timer to %s, which was ignored",
	"207": "the period of the profiling timer was changed: %s us",
	"208": "the handler of SIGEMT was changed during the run: counter profiling may have stopped",
	"209": "the hardware counters were not accessible",
	"210": "vfork was replaced by %s, which may change what the program does",
	"211": "the environment of a new program lacked %s of the collector's variables; they were added",
	"212": "the program handles the sample signal %s itself: sample points may be lost",
	"213": "the program handles the pause signal %s itself: data may be lost",
	"214": "the hardware counters could not be reserved: their other users may distort data",
	"216": "the program tried to block %s, which was ignored",
	"217": "a descendant that cannot be profiled was not followed: %s",
	"218": "a descendant was followed that may not be profiled reliably: %s",
	"219": "the process id was about to change: %s",
	"221": "the program's own profiling timer was reset: %s",
	"225": "more threads than race detection can follow: accesses of the others were not checked",
	"227": "no profile data was recorded",
	"228": "CPU numbers are %s ids, because the C library cannot identify CPUs",
}

func (e *experiment) collectorWarning(w collectorWarning) {
	text, ok := warningTexts[w.id]
	switch {
	case w.kind == "cerror":
		text = "error " + w.id + " of the collector: " + w.text
	case !ok:
		text = "warning " + w.id + " of the collector: " + w.text
	case strings.Contains(text, "%s"):
		text = fmt.Sprintf(text, w.text)
	}
	severity := diagnostic.Warning
	if w.id == warningTimerChanged {
		if e.log.hasKind(schema.Clock) {
			text += "; CPU time is accounted with the interval requested and is wrong if the timer ran with another"
		} else {
			text += "; there is no clock profile that this could concern"
			severity = diagnostic.Info
		}
	}
	e.report(severity, w.file, w.offset, "collector-warning", "%s", text)
}
