package gprofng

import (
	"io"
	"path"
	"strconv"
	"strings"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/bounds"
)

// minVersion is the oldest major format version read (gprofng-experiment 2.3).
const minVersion = 12

// forked is the command of a process that was forked and executed no other program.
const forked = "(fork)"

// recordedLog is the content of log.xml.
type recordedLog struct {
	collectorFacts
	hostFacts
	processFacts
	runFacts
	labels   map[int64]string // id of a sample point -> its label
	samples  int64            // the highest id of a sample point, -1 if there is none
	kinds    []decode.KindInfo
	clockAt  int64 // offset of the clock profile's description in the log
	counters []decode.Counter
	layouts  map[uint16]*layout
	warnings []collectorWarning
	threads  []javaThread
}

// collectorFacts are the log's facts about the collector.
type collectorFacts struct {
	version, collector string
	refused            bool // the version is too old
	archived           bool // the collector ran the archiver
}

// hostFacts are the log's facts about the machine.
type hostFacts struct {
	host, os, arch string
	cpus, clockMHz int
	pageSize       int64
	wordBits       int
}

// processFacts are the log's facts about the process.
type processFacts struct {
	pid, ppid                  int64
	command, directory, target string
}

// runFacts say when the process began and ended.
type runFacts struct {
	running  bool  // the log has a run event
	start    int64 // ns on the host's monotonic clock
	wall     int64 // s since 1970
	closed   bool
	exited   bool // an exit event closed the log
	endless  bool // the time of the end is unusable
	lastTime int64
}

// logReader fills in a recordedLog from the tags of log.xml and warnings.xml.
type logReader struct {
	*recordedLog
	e      *experiment
	file   string
	maps   *mapReader
	kind   string           // kind of the open profile element
	layout *layout          // layout of the open profpckt element
	last   string           // the previous sample point's label
	living map[string][]int // indexes in threads of the Java threads that have not ended, by Java environment
}

// tooMany reports that the log has more than `most` of something.
func (r *logReader) tooMany(reason, what string, most int) {
	r.e.report(diagnostic.Error, r.file, diagnostic.NoOffset, "too-many-"+reason, "only the first %d %s are kept", most, what)
}

// readLog reads a log (gprofng-experiment 2.3 and 2.4), and returns where the text ends.
func (e *experiment) readLog(file string, in io.Reader, size int64, maps *mapReader) (end int64) {
	r := &logReader{recordedLog: &e.log, e: e, file: file, maps: maps}
	return e.readXML(file, in, size, r.tag, func() bool { return file == logFile && !r.exited })
}

// readXML passes each tag of a file to f, and returns the offset at which the text ends. If padded
// returns true, padding must follow the text; readXML reports a problem if it is missing.
func (e *experiment) readXML(file string, in io.Reader, size int64, f func(t *tag), padded func() bool) (end int64) {
	x := newXMLReader(in, func(offset int64, message string) {
		e.report(diagnostic.Error, file, offset, "xml-syntax", "%s", message)
	})
	for t, ok := x.next(); ok; t, ok = x.next() {
		f(&t)
		e.noteAttributes(file, &t)
	}
	if err := x.text.err; err != nil {
		e.unreadable(file, err)
	}
	if !x.failed && size > 0 && padded() && x.text.cut(size, int64(e.blocks().size)) {
		// Padding also disappears when an editor saves the file.
		e.report(diagnostic.Warning, file, size, "maybe-cut", "the text is not followed by the padding that the collector writes: the file was cut between two lines, or edited")
	}
	return x.offset(len(x.data))
}

func (r *logReader) tag(t *tag) {
	if t.closes {
		switch t.name {
		case "profile":
			r.kind = ""
		case "profpckt":
			r.layout = nil
		}
		return
	}
	switch t.name {
	case "experiment":
		r.experiment(t)
	case "collector":
		r.collector = strings.TrimSpace(t.text)
	case "system":
		r.host, r.os, r.arch = t.get("hostname"), t.get("os"), t.get("arch")
		r.page(t)
	case "cpu":
		r.cpus++
		r.clock(t)
	case "frequency":
		r.clock(t)
	case "process":
		r.process(t)
	case "profile", "profdata", "profpckt", "field":
		r.description(t)
	case "event":
		r.event(t)
	case "setting", "powerm", "dataptr": // containers, or elements of which only attributes are used
	case "state", "dtracefatal":
		r.e.ignore(unusedElement, r.file, t, "the element "+t.name)
	default:
		t.ignored = true
		r.e.report(diagnostic.Info, r.file, t.offset, "unknown-element", "the element %s is unknown; it is ignored", t.name)
	}
}

func (r *logReader) experiment(t *tag) {
	r.version = t.get("version")
	major, _, _ := strings.Cut(r.version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < minVersion {
		r.refused = true
		r.e.report(diagnostic.Error, r.file, t.offset, "unsupported-version", "experiment version %q is not supported, only %d and newer are", r.version, minVersion)
	}
}

// process reads an element that describes the process. A log has one element per attribute and one
// for the command, or a single element for all (studio-experiment 4).
func (r *logReader) process(t *tag) {
	for _, a := range t.attrs {
		switch a.name {
		case "pid":
			r.pid = r.int(t, "pid")
		case "ppid":
			r.ppid = r.int(t, "ppid")
		case "wsize":
			r.wordBits = int(r.int(t, "wsize"))
		case "cwd":
			r.directory = t.get("cwd")
		case "pagesz":
			r.page(t)
		}
	}
	if command := strings.TrimSpace(t.text); command != "" {
		r.command, r.target = command, ""
		if command != forked {
			r.target = path.Base(strings.Fields(command)[0])
		}
	}
}

// int reads an optional number.
func (r *logReader) int(t *tag, name string) int64 {
	s := t.get(name)
	if s == "" {
		return 0
	}
	n, err := parseInt(s)
	if err != nil {
		r.badNumber(t, name, err)
	}
	return n
}

// time reads an optional time stamp. It returns false if it is unreadable.
func (r *logReader) time(t *tag) (int64, bool) {
	s := t.get("tstamp")
	if s == "" {
		return 0, true
	}
	ns, err := parseTime(s)
	if err != nil {
		r.badNumber(t, "tstamp", err)
	}
	return ns, err == nil
}

// page reads the size of a page, a power of two.
func (r *logReader) page(t *tag) {
	const most = 1 << 30
	size := r.int(t, "pagesz")
	if size < 0 || size > most || size&(size-1) != 0 {
		r.outOfBounds(t, "pagesz", " bytes", size, most)
		return
	}
	if size > 0 {
		r.pageSize = size
	}
}

// clock reads the frequency of a processor.
func (r *logReader) clock(t *tag) {
	const most = 1000 * bounds.CyclesPerNS
	mhz := r.int(t, "clk")
	if mhz < 0 || mhz > most {
		r.outOfBounds(t, "clk", " MHz", mhz, most)
		return
	}
	r.clockMHz = max(r.clockMHz, int(mhz))
}

func (r *logReader) outOfBounds(t *tag, name, unit string, value, most int64) {
	var left bounds.Outliers
	left.Add(name+" of the element "+t.name, unit, t.offset, value, 0, most)
	left.Report(r.e.reporter(r.file))
}

func (r *logReader) badNumber(t *tag, name string, err error) {
	r.e.report(diagnostic.Error, r.file, t.offset, "bad-number", "%s of the element %s: %v", name, t.name, err)
}

// wordBytes returns the size of an address; if the log lacks it, the architecture's default.
func (l *recordedLog) wordBytes() int {
	switch {
	case l.wordBits == 32:
		return 4
	case l.wordBits == 64:
		return 8
	case l.arch == "i686" || l.arch == "i86pc":
		return 4
	}
	return 8
}

// littleEndian lists the little-endian architectures; all others count as SPARC
// (gprofng-experiment 1.7). A log without an architecture counts as little-endian.
var littleEndian = map[string]bool{
	"": true, "i86pc": true, "i386": true, "i486": true, "i586": true, "i686": true, "x86_64": true,
	"aarch64": true, "riscv64": true, "loongarch64": true,
}

// endOfDates is the last second of the year 9999.
const endOfDates = 253402300799

// maxWarnings is the maximum number of the collector's warnings.
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

// eventTime reads an event's time, which is relative to the start except in a run event. It returns
// false if the time is unreadable. An impossible time counts as 0.
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

// run reads the event of the experiment's start. It has the time of the start on two clocks.
func (r *logReader) run(time int64, t *tag) {
	r.running, r.closed, r.exited = true, false, false
	r.start, r.wall = time, r.int(t, "time")
	if r.wall < 0 || r.wall > endOfDates {
		r.outOfBounds(t, "time", " s", r.wall, endOfDates)
		r.wall = 0
	}
}

// maxLabels is the maximum number of labeled sample points: one per second for twelve days.
const maxLabels = 1 << 20

// sample reads a sample point. Successive sample points with equal labels share one string.
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
