package perfdata

import (
	"fmt"
	"strconv"
	"strings"

	"stackmill/problem"
)

// launcherName is what perf calls its child that is going to execute the program
// to record.
const launcherName = "perf-exec"

// judgeEnd records whether a recording that came through a pipe ends where perf ended
// it: unlike the header of a file, nothing in it says how long it is. perf marks where it
// has emptied its buffers (FINISHED_ROUND), so that the last record is a mark, unless
// perf inject has unpacked and sorted the records. And perf waits for the end of the
// program that it started, if any.
func (r *reader) judgeEnd(t *timeline, ordered bool) {
	if !(r.pipe || r.directory) || len(r.pieces) == 0 {
		return
	}
	p := &r.pieces[0]
	end := int64(len(p.data))
	ended, running := r.programEnded(t, !p.marked || p.inRound || r.moments.n == 0)
	cut := r.pipe && p.inRound
	switch {
	case r.pipe && !p.marked && r.moments.n == 0 && (running || !r.begun):
		r.problem(problem.Error, end, "cut-file", "the recording ends before perf recorded anything: it was cut, or perf was killed")
	case cut && (r.packed || !ordered):
		r.problem(problem.Error, end, "cut-file", "the recording ends between two of perf's marks for empty buffers: the rest of it is lost")
	case running && r.lost == 0:
		r.problem(problem.Error, end, "cut-file", "the recording ends before the program that perf started: the rest of it is lost")
	case cut && ended && r.injected:
	case cut:
		r.problem(problem.Warning, end, "maybe-cut", "the recording does not end with perf's mark for empty buffers: it was cut, or written by a tool such as perf inject")
	case r.pipe && !ended:
		r.problem(problem.Info, end, "no-end", "the recording came through a pipe and does not hold the end of a program that perf started: it may be incomplete")
	}
}

// programEnded reports whether perf started a program that ended while it recorded,
// and whether it started one that did not. One that it was about to start counts if the
// recording was cut.
func (r *reader) programEnded(t *timeline, cut bool) (ended, running bool) {
	for _, list := range t.all {
		for _, p := range list {
			running = running || p.launcher && cut
		}
	}
	for _, p := range t.launched {
		ended, running = ended || p.exited, running || !p.exited
	}
	return ended && !running, running
}

// judgeTimes compares the samples with the recorded times of the first and the last of
// them (perf-data 2, SAMPLE_TIME).
func (r *reader) judgeTimes() {
	s := r.sampleTimes
	if !isTime(s.first) || !isTime(s.last) || len(r.moved) > 0 || r.moments.n > 0 && !r.agrees(&s) {
		return
	}
	first, last := r.moments.begin(), r.moments.latest
	switch {
	case last == 0:
		r.problem(problem.Error, problem.NoOffset, "missing-samples", "the recording says that it has samples, but none with a time is found")
	case last < s.last:
		r.problem(problem.Error, problem.NoOffset, "missing-samples", "the last sample was %d ns after the last one found: samples are lost", s.last-last)
	case first > s.first:
		r.problem(problem.Error, problem.NoOffset, "missing-samples", "the first sample was %d ns before the first one found: samples are lost", first-s.first)
	}
}

// idIndexEntry is the size of an entry of an ID_INDEX record.
const idIndexEntry = 32

// maxCPUs is more than any machine has.
const maxCPUs = 1 << 16

// idIndex notes for which processors perf had buffers.
func (r *reader) idIndex(entries []byte) {
	c := cursorOf(entries, r.big)
	for len(c.Rest) >= idIndexEntry && len(r.cpus) < maxCPUs {
		c.Bytes(16) // id, number of the event
		if cpu := c.U64(); cpu < maxCPUs {
			if r.cpus == nil {
				r.cpus = map[uint64]bool{}
			}
			r.cpus[cpu] = true
		}
		c.U64() // thread
	}
}

// judgeFiles looks for missing files of a directory: data.0 to data.N, one for each
// processor's buffer (perf-data 3.2).
func (r *reader) judgeFiles(names []string) {
	have := map[int]bool{}
	expected := len(r.cpus)
	for _, name := range names {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, mainFile+".")); err == nil && n >= 0 && n < maxCPUs {
			have[n], expected = true, max(expected, n+1)
		}
	}
	for n := range expected {
		if !have[n] {
			r.problemIn(fmt.Sprint(mainFile, ".", n), problem.Error, problem.NoOffset, "not-found", "the file is missing: what perf recorded on one of %d processors is lost", expected)
		}
	}
}
