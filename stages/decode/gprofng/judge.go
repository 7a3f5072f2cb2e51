package gprofng

import (
	"path/filepath"
	"slices"
	"strings"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng/archive"
)

// judge reports what the experiment as a whole shows: the collector's warnings, missing data, and
// known pitfalls.
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
	if l.hasKind(schema.Heap) && e.sub == "" && !strings.HasPrefix(l.os, "SunOS") {
		e.report(diagnostic.Info, eventFiles[schema.Heap], diagnostic.NoOffset, "untraced-calls",
			"blocks from aligned_alloc and posix_memalign are not in the recording, only their frees are; calloc is recorded like malloc")
	}
}

// judgeEvents reports declared kinds without events. If call stacks show that there were events,
// they are lost.
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
			if !e.log.closed { // each thread may have lost what it was recording
				severity = e.unusedSeverity(e.stacks.stacks.Len(), max(1, e.stacks.writers))
			}
			e.report(severity, eventFiles[k.Kind], 0, "missing-events", "there are no events, though %d call stacks were recorded", e.stacks.stacks.Len())
		default:
			e.report(diagnostic.Info, eventFiles[k.Kind], diagnostic.NoOffset, "no-events", "there are no events of this kind")
		}
	}
}

// judgeMap reports a missing map of the address space. Without events nothing is lost: a process
// may end before anything is recorded.
func (e *experiment) judgeMap(events bool) {
	severity := diagnostic.Info
	if events {
		severity = diagnostic.Error
	}
	switch {
	case !e.mapped:
		e.report(severity, mapFile, diagnostic.NoOffset, "missing-file", "the experiment has no map of the address space: no address can be resolved")
	case len(e.process.Image) == 0:
		e.report(severity, mapFile, 0, "empty-file", "the map of the address space is empty: no address can be resolved")
	}
}

// A clock profile is doubtful if it accounts for less than half of the CPU time that the system
// accounted to the process, and that is enough to judge by.
const (
	doubtfulShare = 0.5
	judgeableNS   = 100_000_000
)

// judgeClock compares the clock profile with the overview, which reveals timers that ran slower
// than requested and threads that were not profiled.
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
	i := slices.IndexFunc(e.log.kinds, func(k decode.KindInfo) bool { return k.Kind == schema.Clock })
	if i < 0 || used < judgeableNS {
		return
	}
	accounted := float64(f.cpu) * float64(e.log.kinds[i].TickNS)
	if accounted < doubtfulShare*float64(used) {
		e.report(diagnostic.Warning, eventFiles[schema.Clock], diagnostic.NoOffset, "cpu-time-mismatch",
			"the clock profile accounts for %.3f s of CPU time, the process used %.3f s: the timer ran slower than requested, or threads were not profiled",
			accounted/nsPerSecond, float64(used)/nsPerSecond)
	}
}
