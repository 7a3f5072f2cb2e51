package gprofng

import (
	"errors"
	"path/filepath"
	"slices"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/gprofng/archive"
)

// Data missing from one file of an experiment may show in another: each call stack belongs to an
// event, each sample point of the log to a record of the overview, each descendant to a folder.

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
	// Threads of one flow may write concurrently, and so may a signal handler and the thread
	// that it interrupts.
	if lost := e.stacks.writers - len(flows); lost > 0 && !e.log.isOld() && len(threads) > 0 && len(threads) == len(flows) && !e.hasNestedEvents() {
		report(diagnostic.Error, diagnostic.NoOffset, "missing-threads", "threads recorded call stacks, but their events are missing", int64(lost))
	}
}

// unusedSeverity returns the severity of stacks without events. While a process ends, each thread
// may lose one event, and another one in a signal handler.
func (e *experiment) unusedSeverity(unused, threads int) diagnostic.Severity {
	if unused > 2*threads || unused > 1 && threads == 1 && e.log.closed {
		return diagnostic.Error
	}
	return diagnostic.Warning
}

// hasNestedEvents reports whether signal handlers recorded events during others.
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

// judgeSamples compares the number of overview records with the log.
func (e *experiment) judgeSamples(records int) {
	named := int(e.log.samples) + 1
	slack := 0 // a killed process may have written only one of the two
	if !e.log.closed {
		slack = 1
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
