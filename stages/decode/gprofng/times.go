package gprofng

import (
	"slices"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/bounds"
	"stackmill/stages/decode/mmap"
)

// indexEvents indexes an event file with the log's facts. If the log lacks the experiment's end,
// or most events contradict it, it indexes the file again with the events' own times.
func (e *experiment) indexEvents(f *eventFile, r *packetReader) {
	facts, stated := e.facts()
	f.facts = facts
	f.index(r)
	contradicted := 2*f.moved > f.packets && !e.confirmed(&f.facts)
	if f.packets == 0 || stated && !contradicted {
		return
	}
	again := func() {
		quiet := newPacketReader(r.data, r.order, blockLayout{size: r.blocks.size}, func(diagnostic.Severity, int64, string, string, int64) {})
		quiet.types, quiet.release = r.types, r.release
		for i := range quiet.types {
			quiet.types[i].size = 0
		}
		f.index(quiet)
	}
	if contradicted {
		slices.Sort(f.some)
		middle := f.some[len(f.some)/2]
		if founder := e.opener.founder; founder != nil && !isNearStart(founder.log.start, middle) {
			return // the events' own times are impossible: the log's is used
		}
		f.facts.start, f.facts.end = middle-bounds.MaxDuration, bounds.Add(max(middle, 0), bounds.MaxDuration)
		again()
		e.report(diagnostic.Error, logFile, diagnostic.NoOffset, "bad-time",
			"most events of %s are not between the start and the end of the experiment according to the log (%d and %d ns): their own times are used", f.Name, facts.start, facts.end)
		if far := e.log.start - f.first; far > bounds.MaxDuration || -far > bounds.MaxDuration {
			e.rebase(f.first)
		}
		f.facts.start = min(e.log.start, f.first)
	}
	f.facts.end = f.last
	again()
}

// isNearStart reports whether a process of the founder can have recorded something at a time.
func isNearStart(founder, time int64) bool {
	return time >= founder-bounds.ExitDelay && time <= bounds.Add(founder, bounds.MaxDuration)
}

// confirmed reports whether the overview begins when the log says: then the events' times are
// wrong.
func (e *experiment) confirmed(f *facts) (holds bool) {
	e.view(overviewFile, func(m *mmap.File) {
		if size := overviewHead + overviewWords*e.wordBytes; len(m.Data) >= size {
			holds = f.holds(e.overviewRecord(m.Data[:size]).time)
		}
	})
	return holds
}

// settleStart lets a descendant begin with its founder if its log says that it began before it,
// or years later.
func (e *experiment) settleStart() {
	l, founder := &e.log, e.opener.founder
	if l.start < 0 {
		e.report(diagnostic.Error, logFile, diagnostic.NoOffset, "bad-time", "according to the log, the experiment started at %d ns, before the machine did", l.start)
		l.start = 0
	}
	if founder == nil || l.start == 0 || founder.log.start == 0 || isNearStart(founder.log.start, l.start) {
		return
	}
	e.report(diagnostic.Error, logFile, diagnostic.NoOffset, "bad-time",
		"according to the log, the process started at %d ns and its founder at %d ns: it is taken to have started with its founder", l.start, founder.log.start)
	l.start = founder.log.start
}

// rebase moves the experiment to another start than the log's.
func (e *experiment) rebase(start int64) {
	e.log.start = start
	founder := e.opener.founder
	if founder == nil {
		return
	}
	before := e.process.StartNS
	e.process.StartNS = start - founder.log.start
	for i := range e.process.Image {
		e.process.Image[i].Time += e.process.StartNS - before
	}
}
