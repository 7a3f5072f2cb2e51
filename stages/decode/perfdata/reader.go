package perfdata

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"

	"stackmill/internal/spill"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/bounds"
	"stackmill/stages/decode/mmap"
	"stackmill/stages/decode/tracepoint"
)

// reader reads a recording. The first pass over the records fills found, stats and unused. A
// timeline then follows the processes' address spaces, and attribute turns the samples into rows.
type reader struct {
	recordParser
	in     input
	meta   metadata
	end    endMarks
	found  recordIndex
	limits valueLimits
	stats  statistics
	sched  schedulerRecords
	stat   statRecords
	unused unusedContent
}

// recordParser holds what the parsing of records depends on.
type recordParser struct {
	rec            *decode.Recording
	big            bool
	events         []*event
	byID           map[uint64]int32     // id that the kernel gave to a counter -> index in events
	formats        *tracepoint.Formats  // formats of tracepoints, nil if there are none
	traced         []tracedEvent        // by event: what its samples show of the scheduler
	fields         [][]tracepoint.Field // by event: its stored tracepoint fields, nil if it is not described
	units          map[uint32]string    // event type -> name of the unit (PMU) that counts it
	branchCapacity int                  // number of branches that the processor's buffer holds, 0 if not recorded
}

// input is the recording's files. Only a window of each is in memory at a time.
type input struct {
	ctx        context.Context
	space      *spill.Space
	main       string // name of the file with the header, for problems
	files      []*mmap.File
	segments   []recordRun
	window     int  // maximum number of the files' bytes in memory
	touched    int  // bytes that scan has read since it released the files' pages
	pipe       bool // the recording was written into a pipe: the header does not say how long it is
	directory  bool
	compressed [][]byte // payloads of the current file's compressed records
}

// metadata holds the content of the header's features and of perf's own records.
type metadata struct {
	eventIDs []uint64
	imageIDs map[string]string // path -> build-id, as perf read it at the end
	// ambiguousIDs are the paths with several build-ids, because files in several namespaces have
	// the path.
	ambiguousIDs map[string]bool
	argv         []string // perf's own command line
	cmdline      string
	cycles       *decode.CycleClock
	wall, clock  int64             // the same instant on wall clock and recording's clock, in ns; 0 if not recorded
	cpus         map[uint64]bool   // CPUs with a ring buffer
	cpuOf        map[uint64]uint64 // id of a counter that counts all threads of a CPU -> the CPU
	online       int               // CPUs that were online, 0 if not recorded
	sampleTimes  timeLimits        // times of the first and last sample according to the header; zero if it has none
}

// endMarks holds signs of whether the recording is complete.
type endMarks struct {
	unclosed  bool // perf has not written into the header where the records end
	begun     bool // perf has written everything that precedes the samples
	described bool // perf has written features as records, as all of its newer versions do
	packed    bool // some records are compressed
	injected  bool // perf inject wrote the recording
}

// recordIndex is the result of the first pass: where the samples are, and the records about
// processes.
type recordIndex struct {
	sampleRefs  sampleRefs
	switchRefs  sampleRefs      // refs of the switch records
	sumRefs     sampleRefs      // refs of samples that are sums of waits (offCPUSums)
	owners      map[int32]owner // thread -> its process, by the thread's first tracepoint sample
	sidebands   []sideband
	deferred    []deferredChain
	cgroupNames cgroupNames
	accesses    uint64 // the rowFields that at least one event has
	anyExact    bool   // some sample has the exact address of its instruction
	tellsExec   bool   // COMM records say whether a program was executed
}

// valueLimits has the limits of recorded values, and the corrections that follow from them.
type valueLimits struct {
	times  timeLimits
	length uint64                  // length of the recording, in ns
	moved  map[recordOffset]uint64 // corrected times of samples
	// movedSwitches are corrected times of switch records.
	movedSwitches map[recordOffset]uint64
	outliers      []bounds.Outliers // values out of bounds, by segment
}

// statistics counts the content that the reader skipped, and the losses that the kernel reported.
type statistics struct {
	lost, lostSamples, throttled, auxBytes, printed int64

	badSamples, longSamples, badRecords, oddRecords, unknownEvents int64

	incomplete map[string]int64 // RawStack.Reason -> number of stacks
}

// unusedContent counts the content of the recording that no table stores.
type unusedContent struct {
	seenRecords    map[uint32]int64         // record type -> number of records
	unknownRecords map[uint32]int64         // type that the reader does not know -> number of records
	seenFields     [len(sampleFields)]int64 // samples with the field, by its bit
	seenFeatures   [256]int64               // entries of the feature, by its bit
	branches       int64                    // entries of branch stacks
	latencies      int64                    // samples with more than one latency
	lostBy         map[uint64]uint64        // id of a counter -> number of samples that it lost
	contexts       map[uint64]bool          // set of unknown markers in call chains
}

func (r *reader) problem(s diagnostic.Severity, offset int64, reason, format string, args ...any) {
	r.problemIn(r.in.main, s, offset, reason, format, args...)
}

func (r *reader) problemIn(file string, s diagnostic.Severity, offset int64, reason, format string, args ...any) {
	r.rec.Problems.Addf(s, file, offset, reason, format, args...)
}

// unreadable reports a file that cannot be read. A host error makes the whole recording fail.
func (r *reader) unreadable(file, reason string, err error) {
	r.rec.KeepHostError(err)
	r.problemIn(file, diagnostic.Error, diagnostic.NoOffset, reason, "%v", err)
}

// spaceFailed keeps an error of the temporary space, which is a host error. Lost data need no
// report: the recording is not committed.
func (r *reader) spaceFailed(err error) {
	r.rec.HostErr.Add(err)
}

func (r *reader) close() error {
	var errs []error
	for _, f := range r.in.files {
		errs = append(errs, f.Unmap())
	}
	r.in.files, r.in.segments = nil, nil
	return errors.Join(errs...)
}

func (r *reader) open(path string) {
	names, err := New().Files(path)
	if err != nil {
		r.unreadable(filepath.Base(path), "not-found", fmt.Errorf("the recording cannot be read: %w", err))
		return
	}
	for _, name := range names {
		r.in.main = filepath.Base(filepath.Join(path, name))
		f, err := mmap.Open(r.in.ctx, filepath.Join(path, name), r.in.main)
		if err != nil {
			r.unreadable(r.in.main, "unreadable", err)
			continue
		}
		r.in.files = append(r.in.files, f)
	}
	if len(r.in.files) == 0 {
		return
	}
	r.in.main, r.rec.FileTime = r.in.files[0].Name, r.in.files[0].Modified
	r.in.directory = names[0] == mainFile
	for i, f := range r.in.files {
		if err := f.Guard(func() { r.file(f, i == 0) }); err != nil {
			r.unreadable(f.Name, "unreadable", err)
		}
	}
	if r.in.directory {
		r.judgeFiles(names)
	}
	if err := r.in.files[0].Guard(r.finish); err != nil {
		r.unreadable(r.in.main, "unreadable", err)
	}
}

// file reads the records of a file. Only the first file of a directory also has a header and
// features.
func (r *reader) file(f *mmap.File, first bool) {
	data := section{0, uint64(len(f.Data))}
	if first {
		h, err := readHeader(f.Data)
		if err != nil {
			r.problem(diagnostic.Error, 0, "bad-header", "%v", err)
			return
		}
		r.big = h.big
		if !h.pipe {
			r.readAttrs(f.Data, &h)
			if names, whole := h.names.within(len(f.Data)); whole {
				r.oldNames(f.Data[names.offset : names.offset+names.size])
			}
		}
		data = r.dataSection(f, &h)
	}
	r.readSegment(f.Name, f, int(data.offset+data.size), int(data.offset))
	if len(r.in.compressed) > 0 {
		r.decompress(f.Name)
	}
}

// dataSection returns the section of records in the main file, and reads the features after it.
func (r *reader) dataSection(f *mmap.File, h *header) section {
	rest := section{h.data.offset, uint64(len(f.Data))}
	switch {
	case h.pipe:
		r.in.pipe = true
		return h.data
	case h.data.size == 0:
		data, _ := rest.within(len(f.Data))
		r.end.unclosed = true
		r.problem(diagnostic.Error, 48, "not-closed", "perf was killed before it wrote the size of its data: what was still in its buffers is lost, and host, event names and build-ids are missing")
		return data
	}
	data, whole := h.data.within(len(f.Data))
	if !whole {
		r.problem(diagnostic.Error, 48, "cut-file", "the file has %d bytes of records, its header says %d: it was cut, or not copied whole", data.size, h.data.size)
		return data
	}
	r.readFeatures(f.Data, h)
	return data
}

// readSegment scans the records of a file between two offsets.
func (r *reader) readSegment(name string, f *mmap.File, end, from int) {
	n := len(r.in.segments)
	r.in.segments = append(r.in.segments, recordRun{name: name, file: f, data: f.Data[:end]})
	r.scan(n, from)
}

// finish makes processes of the collected records.
func (r *reader) finish() {
	r.rec.Origin = r.origin()
	r.settleTimes()
	ordered := r.found.sampleRefs.sort(r.limits.moved)
	r.found.switchRefs.sort(r.limits.movedSwitches)
	r.found.sumRefs.sort(nil)
	sort.SliceStable(r.found.sidebands, func(i, j int) bool { return r.found.sidebands[i].time < r.found.sidebands[j].time })
	r.sortDeferred()
	r.judgeTimes()
	t := r.timeline()
	r.judgeEnd(t, ordered)
	r.attribute(t)
	r.findCounts(t)
	r.describe(t)
	r.summary()
	if r.size() > r.in.window/4 && !slices.ContainsFunc(t.recorded, func(p *process) bool { return len(p.dumps) > 0 }) {
		r.release() // the files' pages take much of the memory limit; without stack dumps, only fields of records may be read again, mostly in order
	}
}

// size is the total size of the files.
func (r *reader) size() (n int) {
	for _, f := range r.in.files {
		n += len(f.Data)
	}
	return n
}

// describe fills in the facts about the whole recording.
func (r *reader) describe(t *timeline) {
	r.rec.Started = r.started(int64(t.start))
	for _, p := range t.recorded {
		r.rec.Processes = append(r.rec.Processes, &p.Process)
	}
	if r.rec.Began = r.rec.Started; r.rec.Began.IsZero() { // the file was modified at the recording's end
		r.rec.Began = r.in.files[0].Modified.Add(-r.rec.Length())
	}
	if len(r.events) > 0 && len(t.recorded) == 0 {
		r.problem(diagnostic.Info, diagnostic.NoOffset, "no-samples", "the recording has no samples")
	}
	r.rec.Clock = t.compilerClock()
	if len(r.rec.Processes) > 0 {
		r.rec.Processes[0].Command = r.meta.cmdline
	}
}

// kinds lists the event kinds of every process.
func (t *timeline) kinds() []decode.KindInfo {
	if t.follows {
		return []decode.KindInfo{{Kind: schema.Perf}, {Kind: schema.Wait, Parallelism: t.r.found.accesses&parallelisms != 0}}
	}
	if t.offCPU {
		return []decode.KindInfo{{Kind: schema.Perf}, offCPUKind}
	}
	return []decode.KindInfo{{Kind: schema.Perf}}
}
