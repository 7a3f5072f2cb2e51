package perfdata

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackmill/schema/diagnostic"
)

// launcherName is what perf calls its child that is going to execute the program
// to record.
const launcherName = "perf-exec"

// judgeEnd says what is known of the end of a recording that came through a pipe or into
// a directory: unlike the header of a file, nothing in it says how long it is. perf marks
// where it has emptied its buffers (FINISHED_ROUND), so that the last record is a mark,
// unless perf inject has unpacked and sorted the records, or perf is so old that it marks
// nothing. And perf waits for the end of the program that it started, unless somebody stops
// it. So none of this proves that anything is lost.
func (r *reader) judgeEnd(t *timeline, ordered bool) {
	if !(r.pipe || r.directory) || len(r.pieces) == 0 {
		return
	}
	p := &r.pieces[0]
	end := int64(len(p.data))
	ended, running := r.programEnded(t, !p.marked || p.inRound || r.moments.n == 0)
	cut := r.pipe && p.inRound
	marks := p.marked || r.begun || r.described // perf would have marked its end
	switch {
	case r.pipe && !p.marked && r.moments.n == 0 && (running || !r.begun):
		r.problem(diagnostic.Warning, end, "maybe-cut", "the recording ends before perf recorded anything: it was cut, or perf was killed or had nothing to record")
	case cut && marks && (r.packed || !ordered):
		r.problem(diagnostic.Warning, end, "maybe-cut", "the recording ends between two of perf's marks for empty buffers: it was cut, or perf was killed, and what follows is lost")
	case cut && ended && (r.injected || !marks):
	case cut && marks:
		r.problem(diagnostic.Warning, end, "maybe-cut", "the recording does not end with perf's mark for empty buffers: it was cut, or written by a tool such as perf inject")
	case running && r.directory && r.lost == 0:
		r.problem(diagnostic.Warning, end, "maybe-cut", "the recording ends before the program that perf started: it was cut, or perf was stopped")
	case running && r.lost == 0:
		r.problem(diagnostic.Info, end, "no-end", "the recording ends before the program that perf started: perf was stopped (perf record --control, or by a signal), or the recording is incomplete")
	case r.pipe && !ended:
		r.problem(diagnostic.Info, end, "no-end", "the recording came through a pipe and does not hold the end of a program that perf started: it may be incomplete")
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
// them (perf-data 2, SAMPLE_TIME). perf inject may drop samples and leave the times. Of
// several files that perf writes in turn, each has the time of the first sample of all,
// and one without samples has both times of those before.
func (r *reader) judgeTimes() {
	s := r.sampleTimes
	if !isTime(s.first) || !isTime(s.last) || len(r.moved) > 0 || r.moments.n > 0 && !r.agrees(&s) || r.runs("inject") {
		return
	}
	first, last, turns := r.moments.begin(), r.moments.latest, r.hasOption("--switch-output")
	switch {
	case last == 0 && turns:
	case last == 0:
		r.problem(diagnostic.Error, diagnostic.NoOffset, "missing-samples", "the recording says that it has samples, but none with a time is found")
	case last < s.last:
		r.problem(diagnostic.Error, diagnostic.NoOffset, "missing-samples", "the last sample was %d ns after the last one found: samples are lost", s.last-last)
	case first > s.first && !turns:
		r.problem(diagnostic.Warning, diagnostic.NoOffset, "missing-samples", "the first sample was %d ns before the first one found: samples are lost, or the time is that of another file (perf record --switch-output)", first-s.first)
	}
}

// runs reports whether perf wrote the recording by one of its commands.
func (r *reader) runs(command string) bool { return len(r.argv) > 1 && r.argv[1] == command }

// hasOption reports whether perf got an option, with or without a value.
func (r *reader) hasOption(name string) bool {
	return slices.ContainsFunc(r.argv, func(arg string) bool {
		option, _, _ := strings.Cut(arg, "=")
		return option == name
	})
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
// of perf's threads (perf-data 3.2). There is one for each processor, unless perf was
// told otherwise (perf record --threads=SPEC).
func (r *reader) judgeFiles(names []string) {
	have := map[int]bool{}
	expected := 0
	if slices.Contains(r.argv, "--threads") || slices.Contains(r.argv, "--threads=cpu") {
		expected = len(r.cpus)
	}
	for _, name := range names {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, mainFile+".")); err == nil && n >= 0 && n < maxCPUs {
			have[n], expected = true, max(expected, n+1)
		}
	}
	for n := range expected {
		if !have[n] {
			r.problemIn(fmt.Sprint(mainFile, ".", n), diagnostic.Error, diagnostic.NoOffset, "not-found", "the file is missing: what one of %d threads of perf recorded is lost", expected)
		}
	}
	if n := len(r.cpus); expected < n && len(r.argv) == 0 {
		r.problem(diagnostic.Warning, diagnostic.NoOffset, "maybe-cut", "the directory has %d files of records for %d processors: unless perf was told to write fewer, what it recorded on the others is lost", expected, n)
	}
}
