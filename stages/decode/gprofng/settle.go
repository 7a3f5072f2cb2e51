package gprofng

import (
	"slices"

	"stackmill/problem"
	"stackmill/stages/decode/bounds"
)

// indexEvents indexes an event file by what the log says of the experiment. When it
// does not tell the experiment's end, or most events contradict it, their own times
// tell, and the file is indexed once more.
func (e *experiment) indexEvents(f *eventFile, r *packetReader) {
	facts, stated := e.facts()
	f.facts = facts
	f.index(r)
	contradicted := 2*f.moved > f.packets
	if f.packets == 0 || stated && !contradicted {
		return
	}
	again := func() {
		quiet := newPacketReader(r.data, r.order, 0, func(problem.Severity, int64, string, string, int64) {})
		quiet.types, quiet.release = r.types, r.release
		for i := range quiet.types {
			quiet.types[i].size = 0
		}
		f.index(quiet)
	}
	if contradicted {
		slices.Sort(f.some)
		middle := f.some[len(f.some)/2]
		f.facts.start, f.facts.end = middle-bounds.Longest, bounds.Plus(max(middle, 0), bounds.Longest)
		again()
		e.report(problem.Error, logFile, problem.NoOffset, "bad-time",
			"most events of %s are not between start and end of the experiment as the log has them (%d and %d ns): their own times are believed", f.Name, facts.start, facts.end)
		if far := e.log.start - f.first; far > bounds.Longest || -far > bounds.Longest {
			e.rebase(f.first)
		}
		f.facts.start = min(e.log.start, f.first)
	}
	f.facts.end = f.last
	again()
}

// rebase begins the experiment at another time than the log says.
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
