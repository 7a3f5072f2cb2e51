package perfdata

import (
	stdcontext "context"
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
	"stackmill/stages/decode/mapped"
)

// reader is a recording while it is read.
type reader struct {
	ctx    stdcontext.Context
	rec    *decode.Recording
	main   string // the file with the header, for problems
	files  []*mapped.File
	pieces []piece
	big    bool

	events   []*event
	byID     map[uint64]int32
	eventIDs []uint64
	imageIDs map[string]string // build-ids by path, as perf read them at the end
	// ambiguousIDs are the paths that have several: of files in several namespaces.
	ambiguousIDs map[string]bool
	units        map[uint32]string // names of the hardware's and kernel's units, by the type of their events
	argv         []string          // perf's own command line
	cmdline      string
	cycles       *decode.CycleClock
	wall, clock  int64 // the same moment in both clocks, 0 if not recorded

	pipe      bool // the recording came through a pipe: nothing says how long it is
	directory bool
	unclosed  bool            // perf has not written where the records end
	begun     bool            // perf has written all that precedes the samples
	described bool            // perf has written features as records, as all of its newer versions do
	packed    bool            // some records are compressed
	injected  bool            // perf inject wrote it
	anyExact  bool            // some sample has the exact address of its instruction
	cpus      map[uint64]bool // whose buffers perf emptied

	branchCapacity int // branches that the processor holds, 0 if not recorded

	window          int             // how many bytes of the files are in memory at a time
	touched         int             // bytes that scan read since the files' pages were given back
	unknownContexts map[uint64]bool // markers in chains

	sampleTimes times            // as recorded, zero if they are not
	times       times            // of samples and other records
	length      uint64           // of the recording, in ns
	moved       map[place]uint64 // corrected times of samples
	leftOut     []bounds.Left    // values out of bounds, by piece

	space      *spill.Space
	moments    moments // of the samples
	accesses   uint64  // rowFields that any event has
	tellsExec  bool    // COMM records say whether a program was executed
	sidebands  []sideband
	deferred   []deferred
	compressed [][]byte

	cgroupNames cgroupNames

	lost, lostSamples, throttled, badSamples, longSamples, badRecords, oddRecords, unknownEvents, auxBytes int64
	printed, missingDeferred, cutChains, badAddresses                                                      int64

	// What no table holds, for judgeUnused.
	seenRecords  map[uint32]int64         // by type
	seenFields   [len(sampleFields)]int64 // samples that have one, by its bit
	seenFeatures [256]int64               // by their bit
	branches     int64                    // entries of branch stacks
	latencies    int64                    // samples with more than one
	lostBy       map[uint64]uint64        // samples that a counter lost, by its id

	unknownRecords map[uint32]int64
}

func (r *reader) problem(s diagnostic.Severity, offset int64, reason, format string, args ...any) {
	r.problemIn(r.main, s, offset, reason, format, args...)
}

func (r *reader) problemIn(file string, s diagnostic.Severity, offset int64, reason, format string, args ...any) {
	r.rec.Problems.Addf(s, file, offset, reason, format, args...)
}

// unreadable records that a file cannot be read, and a fault of the machine as the
// recording's.
func (r *reader) unreadable(file, reason string, err error) {
	r.rec.Faulted(err)
	r.problemIn(file, diagnostic.Error, diagnostic.NoOffset, reason, "%v", err)
}

// spaceFailed keeps an error of the space, which is a fault of the machine. What was
// lost with it is not missed: the recording is not committed.
func (r *reader) spaceFailed(err error) {
	r.rec.Fault.Add(err)
}

func (r *reader) close() error {
	var errs []error
	for _, f := range r.files {
		errs = append(errs, f.Unmap())
	}
	r.files, r.pieces = nil, nil
	return errors.Join(errs...)
}

func (r *reader) open(path string) {
	names, err := New().Files(path)
	if err != nil {
		r.unreadable(filepath.Base(path), "not-found", fmt.Errorf("the recording cannot be read: %w", err))
		return
	}
	for _, name := range names {
		r.main = filepath.Base(filepath.Join(path, name))
		f, err := mapped.Open(r.ctx, filepath.Join(path, name), r.main)
		if err != nil {
			r.unreadable(r.main, "unreadable", err)
			continue
		}
		r.files = append(r.files, f)
	}
	if len(r.files) == 0 {
		return
	}
	r.main = r.files[0].Name
	r.directory = names[0] == mainFile
	for i, f := range r.files {
		if err := f.Guard(func() { r.file(f, i == 0) }); err != nil {
			r.unreadable(f.Name, "unreadable", err)
		}
	}
	if r.directory {
		r.judgeFiles(names)
	}
	if err := r.files[0].Guard(r.finish); err != nil {
		r.unreadable(r.main, "unreadable", err)
	}
}

// file reads the records of a file; all but the first of a directory have
// nothing else.
func (r *reader) file(f *mapped.File, first bool) {
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
	r.piece(f.Name, f, int(data.offset+data.size), int(data.offset))
	if len(r.compressed) > 0 {
		r.decompress(f.Name)
	}
}

// dataSection finds the records of the main file, and reads its features.
func (r *reader) dataSection(f *mapped.File, h *header) section {
	rest := section{h.data.offset, uint64(len(f.Data))}
	switch {
	case h.pipe:
		r.pipe = true
		return h.data
	case h.data.size == 0:
		data, _ := rest.within(len(f.Data))
		r.unclosed = true
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

// piece reads the records of a file between two offsets.
func (r *reader) piece(name string, f *mapped.File, end, from int) {
	n := len(r.pieces)
	r.pieces = append(r.pieces, piece{name: name, file: f, data: f.Data[:end]})
	r.scan(n, from)
}

// finish makes processes of the records once all are known.
func (r *reader) finish() {
	r.rec.Origin = r.origin()
	r.settleTimes()
	ordered := r.moments.sort(r.moved)
	sort.SliceStable(r.sidebands, func(i, j int) bool { return r.sidebands[i].time < r.sidebands[j].time })
	r.sortDeferred()
	r.judgeTimes()
	t := r.timeline()
	r.judgeEnd(t, ordered)
	r.assign(t)
	r.describe(t)
	r.summary()
	if r.size() > r.window/4 && !slices.ContainsFunc(t.recorded, func(p *process) bool { return len(p.dumps) > 0 }) {
		r.release() // they are much of what may be mapped, and are not read again
	}
}

// size is how many bytes the files have.
func (r *reader) size() (n int) {
	for _, f := range r.files {
		n += len(f.Data)
	}
	return n
}

// describe fills in what concerns the whole recording.
func (r *reader) describe(t *timeline) {
	r.rec.Started = r.started(int64(t.start))
	for _, p := range t.recorded {
		r.rec.Processes = append(r.rec.Processes, &p.Process)
	}
	if r.rec.Began = r.rec.Started; r.rec.Began.IsZero() { // the file is written until the end
		r.rec.Began = r.files[0].Modified.Add(-r.rec.Length())
	}
	if len(r.events) > 0 && len(t.recorded) == 0 {
		r.problem(diagnostic.Info, diagnostic.NoOffset, "no-samples", "the recording has no samples")
	}
	r.rec.Clock = t.compilerClock()
	if len(r.rec.Processes) > 0 {
		r.rec.Processes[0].Command = r.cmdline
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// kinds says that a process was recorded with perf's events.
var kinds = []decode.KindInfo{{Kind: schema.Perf}}
