package gprofng

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/gprofng/archive"
)

// judge reports the problems that show only in the whole experiment: the collector's warnings,
// missing data, and known pitfalls.
func (e *experiment) judge() {
	l := &e.log
	for _, w := range l.warnings {
		e.collectorWarning(w)
	}
	if !l.closed {
		e.report(diagnostic.Warning, logFile, diagnostic.NoOffset, "not-closed", "the experiment was not closed: the program or the collector was killed, or is still running")
	}
	if l.archived && e.sub == "" && !exists(archivesOf(e.dir)) {
		e.report(diagnostic.Warning, archive.Dir, diagnostic.NoOffset, "missing-file", "the archives are missing: load objects are looked for at their recorded paths, where they may have changed")
	}
	e.judgeEvents()
	e.judgeThreads()
	e.judgeStacks()
	e.judgeClock()
	if _, heap := l.kindInfo(schema.Heap); heap && e.sub == "" && !strings.HasPrefix(l.os, "SunOS") {
		e.report(diagnostic.Info, eventFiles[schema.Heap], diagnostic.NoOffset, "untraced-calls",
			"blocks from aligned_alloc and posix_memalign are not in the recording, only their frees are; calloc is recorded like malloc")
	}
}

// judgeEvents reports declared kinds without events. If there are call stacks but no events at all,
// events were lost.
func (e *experiment) judgeEvents() {
	var total, missing int64
	for _, f := range e.events {
		if f != nil {
			total, missing = total+f.packets, missing+f.missing
		}
	}
	e.judgeMap(total > 0)
	if missing > 0 && !exists(filepath.Join(e.dir, framesFile)) {
		e.report(diagnostic.Error, framesFile, diagnostic.NoOffset, "missing-file", "the experiment has no call stacks")
	}
	for _, k := range e.log.kinds {
		f := e.events[k.Kind]
		switch {
		case f != nil && (f.packets > 0 || f.damaged):
		case f == nil && !exists(filepath.Join(e.dir, eventFiles[k.Kind])) && total > 0:
			e.report(diagnostic.Warning, eventFiles[k.Kind], diagnostic.NoOffset, "missing-file", "the file is missing, though the collector makes it even without events")
		case total == 0 && e.stacks.stacks.Len() > 0:
			severity := diagnostic.Error
			if !e.log.closed { // each thread may have lost the event that it was recording
				severity = e.unusedSeverity(e.stacks.stacks.Len(), max(1, e.stacks.writers))
			}
			e.report(severity, eventFiles[k.Kind], 0, "missing-events", "there are no events, though %d call stacks were recorded", e.stacks.stacks.Len())
		default:
			e.report(diagnostic.Info, eventFiles[k.Kind], diagnostic.NoOffset, "no-events", "there are no events of this kind")
		}
	}
}

// judgeMap reports a missing map of the address space. In an experiment without events, a missing
// map is no loss: a process may end before anything is recorded.
func (e *experiment) judgeMap(events bool) {
	severity := diagnostic.Info
	if events {
		severity = diagnostic.Error
	}
	switch {
	case !e.mapped:
		e.report(severity, mapFile, diagnostic.NoOffset, "missing-file", "the experiment has no map of the address space: no address can be resolved")
	case len(e.process.Mappings) == 0:
		e.report(severity, mapFile, 0, "empty-file", "the map of the address space is empty: no address can be resolved")
	}
}

// A clock profile is doubtful if it accounts for less than doubtfulShare of the CPU time that the
// process used according to the system. Less CPU time than judgeableNS is too short to judge by.
const (
	doubtfulShare = 0.5
	judgeableNS   = 100_000_000
)

// judgeClock compares the CPU time in the clock profile with that in the overview. A difference
// reveals timers that ran slower than requested, and threads that were not profiled.
func (e *experiment) judgeClock() {
	f := e.events[schema.Clock]
	if f == nil {
		f = &eventFile{} // no file, no events
	}
	if f.damaged {
		return
	}
	var used int64
	for _, row := range e.process.Overview {
		used += row.Times[1] + row.Times[2] // user, system
	}
	clock, ok := e.log.kindInfo(schema.Clock)
	if !ok || used < judgeableNS {
		return
	}
	accounted := float64(f.cpu) * float64(clock.TickNS)
	if accounted < doubtfulShare*float64(used) {
		e.report(diagnostic.Warning, eventFiles[schema.Clock], diagnostic.NoOffset, "cpu-time-mismatch",
			"the clock profile accounts for %.3f s of CPU time, the process used %.3f s: the timer ran slower than requested, or threads were not profiled",
			accounted/nsPerSecond, float64(used)/nsPerSecond)
	}
}

// One file of an experiment can show that another file lacks data: each call stack belongs to an
// event, each sample point in the log to a record of the overview, and each announced descendant to
// a folder.

// judgeStacks reports call stacks without an event, and threads that recorded stacks but no
// events.
func (e *experiment) judgeStacks() {
	if len(e.log.kinds) == 0 {
		return
	}
	var packets int64
	threads, flows := map[int64]struct{}{}, map[int64]struct{}{}
	for _, f := range e.events {
		if f == nil {
			continue
		}
		if f.damaged {
			return // it was reported
		}
		packets += f.packets
		for t := range f.threads {
			threads[t] = struct{}{}
			flows[int64(uint64(t)%uint64(e.blocks().flows))] = struct{}{}
		}
	}
	if packets == 0 {
		return
	}
	report := e.reporter(framesFile)
	if unused := e.stacks.unused(); unused > 0 {
		report(e.unusedSeverity(unused, len(threads)), diagnostic.NoOffset, "unused-stacks", "call stacks were recorded for events that are missing from the files", int64(unused))
	}
	// More writers than flows can be normal: threads of one flow may write concurrently, and so may
	// a signal handler and the thread that it interrupts.
	if lost := e.stacks.writers - len(flows); lost > 0 && !e.log.isOld() && len(threads) > 0 && len(threads) == len(flows) && !e.hasNestedEvents() {
		report(diagnostic.Error, diagnostic.NoOffset, "missing-threads", "threads recorded call stacks, but their events are missing", int64(lost))
	}
}

// unusedSeverity returns the severity of stacks without events. When a process ends, each thread
// may lose one event and, in a signal handler, a second one.
func (e *experiment) unusedSeverity(unused, threads int) diagnostic.Severity {
	if unused > 2*threads || unused > 1 && threads == 1 && e.log.closed {
		return diagnostic.Error
	}
	return diagnostic.Warning
}

// hasNestedEvents reports whether signal handlers may have recorded events while other events were
// being recorded.
func (e *experiment) hasNestedEvents() bool {
	signals, others := 0, 0
	for kind, f := range e.events {
		switch {
		case f == nil || f.packets == 0:
		case schema.Kind(kind) == schema.Clock || schema.Kind(kind) == schema.HWC:
			signals++
		default:
			others++
		}
	}
	return signals > 1 || signals == 1 && others > 0
}

// judgeSamples compares the number of overview records with the number of sample points in the log.
func (e *experiment) judgeSamples(records int) {
	named := int(e.log.samples) + 1
	slack := 0
	if !e.log.closed {
		slack = 1 // a killed process may have written a sample point to only one of the two files
	}
	switch {
	case e.log.samples < 0:
	case records < named-slack:
		e.report(diagnostic.Error, overviewFile, diagnostic.NoOffset, "truncated", "the file has %d records, the log has %d sample points: the file was cut", records, named)
	case records > named+slack && !e.log.exited:
		e.report(diagnostic.Error, logFile, diagnostic.NoOffset, "truncated", "the log has %d sample points, the overview has %d: the log was cut", named, records)
	}
}

// judgeDescendants reports announced descendants that are missing.
func (o *opener) judgeDescendants(names []string) {
	slices.Sort(o.announced)
	for _, lineage := range slices.Compact(o.announced) {
		if !slices.Contains(names, lineage+".er") {
			o.rec.Problems.Addf(diagnostic.Warning, lineage+".er", diagnostic.NoOffset, "missing-descendant", "the log names this descendant, but it is missing")
		}
	}
}

// judgeArchives reports links that are not followed.
func (o *opener) judgeArchives() {
	archives := archivesOf(o.path)
	if _, err := o.folder.resolve(archives); errors.Is(err, errLeadsOut) {
		o.rec.Problems.Addf(diagnostic.Warning, archive.Dir, diagnostic.NoOffset, "link-leads-out", "%v", err)
		return
	}
	strays, err := o.folder.strays(archives)
	if err != nil && !o.rec.KeepHostError(err) {
		o.rec.Problems.Addf(diagnostic.Warning, archive.Dir, diagnostic.NoOffset, "unreadable", "archived load objects cannot be listed: %v", cause(err))
	}
	for _, name := range strays {
		o.rec.Problems.Addf(diagnostic.Warning, filepath.Join(archive.Dir, name), diagnostic.NoOffset, "link-leads-out", "%v", errLeadsOut)
	}
}

// collectorWarning is a cwarn or cerror event of the log (gprofng-experiment 2.4).
type collectorWarning struct {
	kind   string
	id     string
	text   string // the warning's parameter
	file   string
	offset int64
}

// warningTimerChanged is the id of the collector's warning that the profiling timer does not run as
// requested.
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
		if _, ok := e.log.kindInfo(schema.Clock); ok {
			text += "; CPU time is accounted with the interval requested and is wrong if the timer ran with another"
		} else {
			text += "; there is no clock profile that this could concern"
			severity = diagnostic.Info
		}
	}
	e.report(severity, w.file, w.offset, "collector-warning", "%s", text)
}
