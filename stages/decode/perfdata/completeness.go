package perfdata

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackmill/schema/diagnostic"
)

// launcherName is the name of perf's child before it executes the program to record.
const launcherName = "perf-exec"

// judgeEnd reports a recording from a pipe or directory that may be incomplete. Unlike a single
// file, such a recording has no header with its length. perf writes a mark (FINISHED_ROUND)
// whenever it has emptied its buffers, so a mark should be the last record; but old versions of
// perf write no marks, and perf inject drops them when it unpacks and sorts the records. perf also
// waits for the end of the program that it started, unless somebody stops perf. So none of this
// proves that data is lost.
func (r *reader) judgeEnd(t *timeline, ordered bool) {
	if !(r.in.pipe || r.in.directory) || len(r.in.segments) == 0 {
		return
	}
	p := &r.in.segments[0]
	end := int64(len(p.data))
	ended, running := r.programEnded(t, !p.hasRoundMark || p.inRound || r.found.sampleRefs.n == 0)
	cut := r.in.pipe && p.inRound
	marks := p.hasRoundMark || r.end.begun || r.end.described // perf would have written a mark at its end
	switch {
	case r.stat.ended:
	case r.stat.refs.n > 0 && r.in.pipe:
		r.problem(diagnostic.Info, end, "no-end", "intervals of perf stat came through a pipe, and nothing says which one was the last: the recording may be incomplete")
	case r.in.pipe && !p.hasRoundMark && r.found.sampleRefs.n == 0 && (running || !r.end.begun):
		r.problem(diagnostic.Warning, end, "maybe-cut", "the recording ends before perf recorded anything: it was cut, or perf was killed or had nothing to record")
	case cut && marks && (r.end.packed || !ordered):
		r.problem(diagnostic.Warning, end, "maybe-cut", "the recording ends between two of perf's marks for empty buffers: it was cut, or perf was killed, and the rest is lost")
	case cut && ended && (r.end.injected || !marks):
	case cut && marks:
		r.problem(diagnostic.Warning, end, "maybe-cut", "the recording does not end with perf's mark for empty buffers (FINISHED_ROUND): it was cut, or written by a tool such as perf inject")
	case running && r.in.directory && r.stats.lost == 0:
		r.problem(diagnostic.Warning, end, "maybe-cut", "the recording ends before the program that perf started: it was cut, or perf was stopped")
	case running && r.stats.lost == 0:
		r.problem(diagnostic.Info, end, "no-end", "the recording ends before the program that perf started: perf was stopped (perf record --control, or by a signal), or the recording is incomplete")
	case r.in.pipe && !ended:
		r.problem(diagnostic.Info, end, "no-end", "the recording came through a pipe and does not hold the end of a program that perf started: it may be incomplete")
	}
}

// programEnded returns ended if all programs that perf started ended during the recording, and
// running if some program did not. In a cut recording, a program that perf was about to start
// counts as running.
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

// judgeTimes compares the times of the first and last sample found with their times in the header
// (perf-data 2, SAMPLE_TIME). perf inject may drop samples and keep the header's times. With
// --switch-output, the header of every file has the time of the very first sample, and the header
// of a file without samples has both times from the files before.
func (r *reader) judgeTimes() {
	s := r.meta.sampleTimes
	if !isTime(s.first) || !isTime(s.last) || len(r.limits.moved) > 0 || r.found.sampleRefs.n > 0 && !r.agrees(&s) || r.runs("inject") {
		return
	}
	first, last, turns := r.found.sampleRefs.begin(), r.found.sampleRefs.latest, r.hasOption("--switch-output")
	switch {
	case last == 0 && turns:
	case last == 0:
		r.problem(diagnostic.Error, diagnostic.NoOffset, "missing-samples", "the recording says that it has samples, but none with a time is found")
	case last < s.last:
		r.problem(diagnostic.Error, diagnostic.NoOffset, "missing-samples", "according to the header, the last sample is %d ns later than the last sample found: samples are lost", s.last-last)
	case first > s.first && !turns:
		r.problem(diagnostic.Warning, diagnostic.NoOffset, "missing-samples", "according to the header, the first sample is %d ns earlier than the first sample found: samples are lost, or the header has the time of another file (perf record --switch-output)", first-s.first)
	}
}

// runs reports whether a perf command, such as inject, wrote the recording.
func (r *reader) runs(command string) bool { return len(r.meta.argv) > 1 && r.meta.argv[1] == command }

// hasOption reports whether perf's command line has an option, with or without a value.
func (r *reader) hasOption(name string) bool {
	return slices.ContainsFunc(r.meta.argv, func(arg string) bool {
		option, _, _ := strings.Cut(arg, "=")
		return option == name
	})
}

// idIndexEntry is the size of an entry of an ID_INDEX record.
const idIndexEntry = 32

// anyThread is the thread id of a counter that counts all threads of its CPU.
const anyThread = -1

// systemWide reports whether an event was counted per CPU, for all threads.
func (r *reader) systemWide(e *event) bool {
	if len(r.meta.cpus) == 0 { // an old perf writes no ID_INDEX
		return r.hasOption("-a") || r.hasOption("--all-cpus")
	}
	for id, n := range r.byID {
		if _, known := r.meta.cpuOf[id]; r.events[n] == e && !known {
			return false
		}
	}
	return true
}

// missingCPUs returns the number of the machine's CPUs on which an event was not counted; -1 if that
// is not known.
func (r *reader) missingCPUs(e *event) int {
	on := map[uint64]bool{}
	for id, cpu := range r.meta.cpuOf {
		if n, known := r.byID[id]; known && r.events[n] == e {
			on[cpu] = true
		}
	}
	switch {
	case len(on) == 0 && (r.hasOption("-C") || r.hasOption("--cpu")), len(on) > 0 && r.meta.online == 0:
		return -1
	case len(on) == 0:
		return 0
	}
	return max(r.meta.online-len(on), 0)
}

// maxCPUs is more than any machine has.
const maxCPUs = 1 << 16

// idIndex reads an ID_INDEX record: the CPUs for which perf had buffers, and for each counter
// whether it counts a CPU or a single thread. perf inject --guest-data adds to each entry the virtual
// machine that it is of, 0 if none (guests): the CPUs of virtual machines are others.
func (r *reader) idIndex(entries, guests []byte) {
	c, g := cursorOf(entries, r.big), cursorOf(guests, r.big)
	for len(c.Rest) >= idIndexEntry && len(r.meta.cpus) < maxCPUs {
		id := c.U64()
		c.U64() // index of the event
		cpu := c.U64()
		if cpu < maxCPUs {
			r.meta.cpus[cpu] = true
		}
		machine := g.U64()
		g.U64() // its CPU
		if thread := int64(c.U64()); thread == anyThread && cpu < maxCPUs && machine == 0 {
			r.meta.cpuOf[id] = cpu
		}
	}
}

// judgeFiles looks for missing files of a directory: data.0 to data.N, one for each of perf's
// threads (perf-data 3.2). perf starts one thread per CPU unless `perf record --threads=SPEC`
// asked for fewer.
func (r *reader) judgeFiles(names []string) {
	have := map[int]bool{}
	expected := 0
	if slices.Contains(r.meta.argv, "--threads") || slices.Contains(r.meta.argv, "--threads=cpu") {
		expected = len(r.meta.cpus)
	}
	for _, name := range names {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, mainFile+".")); err == nil && n >= 0 && n < maxCPUs {
			have[n], expected = true, max(expected, n+1)
		}
	}
	for n := range expected {
		if !have[n] {
			r.problemIn(fmt.Sprint(mainFile, ".", n), diagnostic.Error, diagnostic.NoOffset, "not-found", "the file is missing: the records of one of perf's %d threads are lost", expected)
		}
	}
	if n := len(r.meta.cpus); expected < n && len(r.meta.argv) == 0 {
		r.problem(diagnostic.Warning, diagnostic.NoOffset, "maybe-cut", "the directory has %d files of records for %d processors: the records of the other processors are lost, unless an option made perf write fewer files", expected, n)
	}
}

// count reports a problem that occurred n times, if n > 0.
func (r *reader) count(s diagnostic.Severity, n int64, reason, message string) {
	if n > 0 {
		r.rec.Problems.Add(diagnostic.Problem{Severity: s, File: r.in.main, Offset: diagnostic.NoOffset, Reason: reason, Message: message, Count: n})
	}
}

// summary reports what the reader counted.
func (r *reader) summary() {
	r.count(diagnostic.Warning, r.stats.lost, "lost-records", "the kernel could not write records because the buffer was full: use perf record -m or a lower frequency")
	r.count(diagnostic.Warning, r.stats.lostSamples, "lost-samples", "the kernel dropped samples")
	r.count(diagnostic.Warning, r.stats.throttled, "throttled", "the kernel paused sampling because it took too much time")
	r.count(diagnostic.Info, r.stats.printed, "text", "bytes of text are between or after the records: programs or perf printed to the same place as the recording")
	r.count(diagnostic.Error, r.stats.badSamples, "bad-sample", "samples end before their last field")
	r.count(diagnostic.Warning, r.stats.longSamples, "long-sample", "samples continue after their last field: if the description of their event is damaged, their fields are misread")
	r.count(diagnostic.Error, r.stats.badRecords, "bad-record", "records of processes and their mappings end before their last field")
	r.count(diagnostic.Error, r.stats.unknownEvents, "unknown-event", "samples belong to an event that the file does not describe")
	r.count(diagnostic.Warning, r.stats.auxBytes, "aux-data", "bytes of hardware trace data are not decoded")
	r.judgeUnused()
	r.judgeChains()
	for i := range r.limits.outliers {
		r.limits.outliers[i].Report(func(s diagnostic.Severity, offset int64, reason, message string, count int64) {
			r.rec.Problems.Add(diagnostic.Problem{Severity: s, File: r.in.segments[i].name, Offset: offset, Reason: reason, Message: message, Count: count})
		})
	}
	r.count(diagnostic.Warning, r.stats.oddRecords, "odd-record", "records are longer or shorter than their types allow, and are skipped: if they were samples, they are lost")
	var types []string
	var n int64
	for typ, k := range r.unused.unknownRecords {
		types, n = append(types, fmt.Sprint(typ)), n+k
	}
	slices.Sort(types)
	r.count(diagnostic.Warning, n, "unknown-record", "records of unknown types ("+strings.Join(types, ", ")+") are skipped: if they were samples, they are lost")
}
