package gprofng

import (
	"strings"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/bounds"
)

// endOfDates is the last second of the year 9999.
const endOfDates = 253402300799

// maxWarnings is the maximum of the collector's warnings.
const maxWarnings = 1 << 14

// event reads an event element (gprofng-experiment 2.4).
func (r *logReader) event(t *tag) {
	kind := t.get("kind")
	switch kind {
	case "map", "unmap":
		r.maps.event(r.file, t)
	case "cwarn", "cerror":
		r.warning(kind, t)
	case "comment":
		r.e.ignore(unusedEvent, r.file, t, "the text of an event of kind comment")
		r.archived = r.archived || strings.HasPrefix(t.text, "Archive command")
	default:
		if time, ok := r.eventTime(kind, t); ok {
			r.timedEvent(kind, time, t)
		}
	}
}

func (r *logReader) warning(kind string, t *tag) {
	if len(r.warnings) == maxWarnings {
		r.tooMany("collector-warnings", "warnings of the collector", maxWarnings)
		return
	}
	r.warnings = append(r.warnings, collectorWarning{kind, t.get("id"), strings.TrimSpace(t.text), r.file, t.offset})
}

// eventTime reads an event's time; false if it is unreadable. Times are relative to the start,
// except the run event's; an impossible one counts as 0.
func (r *logReader) eventTime(kind string, t *tag) (time int64, ok bool) {
	time, ok = r.time(t)
	if !ok {
		return 0, false
	}
	if kind == "exit" && t.get("tstamp") == "" {
		r.endless = true
	}
	if kind != "run" && (time < 0 || time > bounds.MaxDuration) {
		r.outOfBounds(t, "tstamp", " ns", time, bounds.MaxDuration)
		time, r.endless = 0, r.endless || kind == "exit" || kind == "exec_start"
	}
	return time, true
}

// timedEvent reads an event with a time.
func (r *logReader) timedEvent(kind string, time int64, t *tag) {
	switch kind {
	case "run":
		r.run(time, t)
	case "exit":
		r.closed, r.exited = true, true
		r.lastTime = max(r.lastTime, time)
	case "exec_start":
		r.closed = true
		r.lastTime = max(r.lastTime, time)
	case "exec_error":
		r.closed = false
	case "sample":
		r.lastTime = max(r.lastTime, time)
		r.sample(t)
	case "jthread_start":
		r.beginThread(javaThread{
			thread: r.int(t, "tid"), env: t.get("jenv"),
			name: t.get("name"), group: t.get("grpname"), from: time,
		})
	case "jthread_end":
		r.endThread(t, time)
	case "desc_started":
		if lineage := t.get("lineage"); t.get("follow") == "1" && strings.HasPrefix(lineage, "_") {
			r.e.opener.announce(lineage)
		}
	case "archive_run":
		r.archived = true
	case "desc_start", "pause", "resume", "thread_pause", "thread_resume", "gc_start", "gc_end":
		r.e.ignore(unusedEvent, r.file, t, "an event of kind "+kind)
	default:
		t.ignored = true
		r.e.report(diagnostic.Info, r.file, t.offset, "unknown-event", "events of kind %q are unknown; this one is ignored", kind)
	}
}

// run reads the event of the experiment's start, with its time on two clocks.
func (r *logReader) run(time int64, t *tag) {
	r.running, r.closed, r.exited = true, false, false
	r.start, r.wall = time, r.int(t, "time")
	if r.wall < 0 || r.wall > endOfDates {
		r.outOfBounds(t, "time", " s", r.wall, endOfDates)
		r.wall = 0
	}
}

// maxLabels is the maximum of labeled sample points: twelve days of one per second.
const maxLabels = 1 << 20

// sample reads a sample point. Most have the same few labels.
func (r *logReader) sample(t *tag) {
	id := r.int(t, "id")
	if id < 0 || t.get("id") == "" {
		return
	}
	r.samples = max(r.samples, id)
	if id == 0 || len(r.labels) == maxLabels {
		return
	}
	label := t.get("label")
	if r.last != label {
		r.last = label
	}
	r.labels[id] = r.last
}
