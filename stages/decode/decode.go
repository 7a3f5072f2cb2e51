// Package decode turns recordings into process images, raw stacks and batches
// of events. One package below it reads each input format.
//
// Start reading with Decoder and Recording, the contract of all formats; Stacks (stacks.go) holds
// the recorded stacks.
package decode

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/internal/hosterr"
	"stackmill/internal/safefile"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
)

// Decoder reads one input format.
type Decoder interface {
	// Name returns the format's name, as in `experiments.format`.
	Name() string
	// Detect reports whether path holds a recording of this format, by names and magic bytes
	// only.
	Detect(path string) bool
	// Members returns the paths of the recordings at path: path itself, or the members of a
	// group file.
	Members(path string) ([]string, error)
	// Files returns the files whose content identifies a recording, sorted and relative to path; an
	// empty name means path itself. It omits broken links.
	Files(path string) ([]string, error)
	// Open reads logs, maps and stacks, and scans the event files without keeping the events in
	// memory. It always returns a recording; if nothing could be read, the recording has no
	// processes and its problems say why. When the context is canceled, all reading of the
	// recording ends with a host error.
	Open(ctx context.Context, path string) *Recording
}

// Recording is one experiment: a founder process and its descendants.
type Recording struct {
	Format, Version, Collector string
	Host, OS, Arch             string
	Comment                    string // the recording's description of itself, line by line
	CPUs, ClockMHz             int
	PageSize                   int64
	CacheLine                  int64 // bytes per line of the data caches, 0 if not recorded
	WordBits                   int
	Started                    time.Time // zero if not recorded
	// Origin identifies the recording as soon as it has a sample, for formats that record host and
	// start last; it is empty for other formats.
	Origin string
	// Began is the latest possible start. If Started is unknown or inexact, Began comes from the
	// file's modification time; zero if unknown.
	Began time.Time
	// FileTime is when the recording's file was last modified, about when the recording ended; zero
	// if unknown, as for a recording from a store.
	FileTime  time.Time
	Kernel    KernelSymbol
	Processes []*Process
	CGroups   []string // paths of control groups; events have indexes into them
	// EventFields describes the fields of tracepoints, sorted by event, then by Position.
	EventFields []EventField
	Gaps        []RecordingGap // in order of FromNS
	Fields      FieldReader    // reads the tracepoint fields of samples; nil if there are none
	// ThreadStates passes the states of all threads, each thread's in order of time, and returns an
	// error of reading them. It is nil if the recording does not show states.
	ThreadStates func(pass func(*ThreadState) error) error
	// Counts passes what the counters of perf stat counted, interval by interval, and returns an error
	// of reading it. It is nil if the recording has no counts.
	Counts   func(pass func(*Count) error) error
	Problems diagnostic.Log
	// HostErr keeps the first host error that kept the recording from being read. A recording with
	// a host error must not be committed.
	HostErr hosterr.First
	Clock   *CompilerClock // of JIT compilers, nil if there is none
	// FromStore says that the recording was rebuilt from a store: its events already have derived
	// durations, values and files, and a clock tick is 1 ns.
	FromStore bool
	IOFiles   []IOFile // the files of I/O events, if FromStore
	// Locate returns the files that may be the load object recorded as path, best first
	// (archives, then the path itself). It is safe for concurrent use, also after Close.
	Locate func(path string) []Candidate
	// Close unmaps the files. No event reader may be used afterwards.
	Close func() error
}

// KeepHostError keeps an error of the host in HostErr and returns true; other errors are problems
// of the recording. It is safe for concurrent use.
func (r *Recording) KeepHostError(err error) bool {
	if !hosterr.Is(err) {
		return false
	}
	r.HostErr.Add(err)
	return true
}

// Length returns how long the recording took.
func (r *Recording) Length() time.Duration {
	length := int64(0)
	for _, p := range r.Processes {
		length = max(length, p.StartNS+p.DurationNS)
	}
	return time.Duration(length)
}

// KernelSymbol is a symbol of the kernel and its address during the recording, which shows how far
// the kernel was moved from its link-time address. It is zero if no symbol was recorded.
type KernelSymbol struct {
	Name    string
	Address uint64
	// Start and End delimit the recorded mapping of the kernel, usually its text; End is 0 if
	// unknown.
	Start, End uint64 `json:",omitempty"`
	// From is the lowest kernel address, 0 if it is Linux's default for x86-64 and arm64.
	From uint64 `json:",omitempty"`
}

// Maps reports whether an address may be in the kernel's own code, not in a module or in code
// that the kernel generated.
func (k KernelSymbol) Maps(address uint64) bool {
	return k.End <= k.Start || k.Start <= address && address < k.End
}

// Locator finds the files that a recording names: load objects, symbol lists, sources. It is safe
// for concurrent use.
type Locator interface {
	// ByPath returns the files that may be the one recorded as path, best first.
	ByPath(path string) []Candidate
	// ByBuildID returns further files that may be the load object with that path and build-id. The
	// caller uses only files that have the build-id.
	ByBuildID(path, buildID string) []Candidate
}

// ByPath implements Locator with the recording's archives and paths.
func (r *Recording) ByPath(path string) []Candidate { return r.Locate(path) }

// ByBuildID implements Locator. A recording knows no further files.
func (r *Recording) ByBuildID(string, string) []Candidate { return nil }

// Candidate is a file that may be a load object.
type Candidate struct {
	Path   string
	Origin string // `archive`, `path` or `cache`, as in load_objects.symbols
}

// AtPath implements Recording.Locate for recordings without archives.
func AtPath(path string) []Candidate {
	if _, err := safefile.Stat(path); err != nil || !filepath.IsAbs(path) {
		return nil
	}
	return []Candidate{{Path: path, Origin: "path"}}
}

// Process is one process of a recording.
type Process struct {
	Number  int    // from 1; the founder is 1
	Lineage string // `_f1` (gprofng) or `pid-17` (perf); empty for the founder
	// Shared says that the process has no files of its own in the recording.
	Shared                     bool
	PID, PPID                  int64
	Target, Command, Directory string
	StartNS, DurationNS        int64 // start relative to the founder's
	Closed                     bool  // the log ends in exit or exec
	Kinds                      []KindInfo
	Counters                   []Counter
	Mappings                   []MapEvent // mappings of code, in file order
	DataMappings               []MapEvent // other mappings, not executable; in file order
	JITDumps                   []JITDump
	Stacks                     *Stacks               // nil if it has no events
	JavaMethods                map[uint64]JavaMethod // method id -> method
	JavaThreads                []JavaThread
	ThreadNames                []ThreadName
	Overview                   []OverviewRow
	// Events returns a new reader of the kind's events in order of time; the time of a wait is when
	// its thread was switched in. Events with equal times are in file order. Several readers may be
	// used concurrently. If columns are named, batches may lack other columns. The events' problems
	// are already in Recording.Problems.
	Events func(k schema.Kind, columns ...string) EventReader
	// Dumps are the stack dumps to which events refer (StackOfDump) if their stacks are not in
	// Stacks; nil if there are none.
	Dumps Dumps
	// WaitStacks are stacks of dumps with the state of a wait. Events refer to WaitStacks[i] as if
	// it were the dump with the number Dumps.Len()+i.
	WaitStacks []WaitStack
	// Release frees the memory of events and dumps when no reader is left. It may be nil.
	Release func()
	// Records estimates the number of event packets of a kind from file sizes, for progress
	// only.
	Records func(schema.Kind) int64
}

// MapFile is the file with a process's address space, under the name that problems show.
const MapFile = "map.xml"

// File returns the path of a process's file, or of its folder if name is `.`. The path is relative
// to the recording, as problems show it. It is `.` if all processes share the files.
func (p *Process) File(name string) string {
	switch {
	case p.Shared:
		return "."
	case p.Lineage == "":
		return name
	}
	return filepath.Join(p.Lineage+".er", name)
}

// Has reports whether the process was recorded with a kind of data.
func (p *Process) Has(k schema.Kind) bool {
	return slices.ContainsFunc(p.Kinds, func(info KindInfo) bool { return info.Kind == k })
}

// GeneratedCode is code that a process generated, read from a file outside of the recording.
type GeneratedCode struct {
	Process      *Process
	Ends, Begins []MapEvent
}

// Attach adds generated code to the process's image. At equal times, old code ends before
// recorded mappings begin, and new code begins after them.
func (g *GeneratedCode) Attach() {
	g.Process.Mappings = slices.Concat(g.Ends, g.Process.Mappings, g.Begins)
}

// EventReader iterates over batches of schema.EventSchema(kind) with at most
// schema.BatchRows rows. The caller owns each batch and releases it. A reader is used
// by one goroutine at a time.
type EventReader interface {
	// Next returns the next batch, or nil at the end.
	Next() (arrow.RecordBatch, error)
	Close()
}

// NewBatch returns a batch of columns. It releases the caller's references to the columns.
func NewBatch(s *arrow.Schema, columns []arrow.Array) arrow.RecordBatch {
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	return array.NewRecordBatch(s, columns, int64(columns[0].Len()))
}

// KindInfo describes a kind of data that the process was recorded with.
type KindInfo struct {
	Kind schema.Kind
	// TickNS is the requested clock interval in ns; Clock only.
	TickNS int64
	// States is the log's numstates (1: Linux; 10: Solaris; 2, 3: kernel); Clock only.
	States int
	// Parallelism says that samples have the number of threads that were on a CPU; Wait only.
	Parallelism bool `json:",omitempty"`
	// OnlyBlocked says that waits are only those of blocked threads, so that they do not add up to
	// wall-clock time; Wait only.
	OnlyBlocked bool `json:",omitempty"`
}

// Counter is a hardware counter or event; the event column `counter` has its Tag.
type Counter struct {
	Tag      int
	Name     string // command name, the metric's name
	Title    string
	TimeUnit bool   // its events are clock cycles, shown as time
	Unit     string `json:",omitempty"` // unit of the event's metric; empty: ns if TimeUnit, else count
	Interval int64
	Trigger  Trigger
	// Preferred says that the recording asks for the counter's metric to be shown first.
	Preferred bool `json:",omitempty"`
}

// MetricUnit returns the unit of the counter's metric.
func (c *Counter) MetricUnit() string {
	switch {
	case c.Unit != "":
		return c.Unit
	case c.TimeUnit:
		return "ns"
	}
	return "count"
}

// Trigger says how the leaf PC of a counter's events relates to the instruction that accessed
// memory (S27).
type Trigger uint8

// The relations of the PC to the instruction that accessed memory.
const (
	NoTrigger     Trigger = iota // events are not memory accesses
	TriggerExact                 // the PC is that instruction
	TriggerBehind                // the PC is the instruction after it
	TriggerSkid                  // the PC is some way after it
)

// RawStack is one recorded stack.
type RawStack struct {
	Words []uint64 // native PCs, leaf first, markers included
	// Kernel is the number of kernel words, which come first; the next word is where user code
	// entered the kernel.
	Kernel int
	// Returns says that the words of callers are return addresses.
	Returns bool
	Callers Callers
	// ByFrame are indexes into Words, ascending. The stack was unwound by call frame information,
	// but these words lack it: their callers were found by the frame pointer.
	ByFrame []int32
	// Exact are indexes into Words, ascending. These words are PCs even if Returns is set: a signal
	// interrupted the function there, or the signal's handler returns there. Nil if only function
	// names can show that.
	Exact []int32
	Java  []JavaFrame
	OMP   []uint64 // OpenMP user stack, leaf first; nil when not recorded
	// OMPState is the OpenMP state, or the state of a waiting thread (StatePreempted...); -1
	// when not recorded.
	OMPState int
	// Reason says why the stack is empty or incomplete (`missing-stack`, `missing-link`,
	// `link-cycle`, `stack-too-long`, and the reasons of dumps), empty if it is complete.
	Reason string
}

// Callers says how the callers on a stack were found.
type Callers uint8

// The sources of callers.
const (
	CallersCollected Callers = iota // the collector recorded them
	CallersNone                     // there are no callers
	CallersChained                  // by the chain of frame pointers, which lacks the callers of code without a frame
	CallersUnwound                  // by call frame information
	CallersBranches                 // from the processor's branch stack
)

// The states of waiting threads: stateWaits plus wait_samples.state, to keep them apart from the
// states of OpenMP.
const (
	stateWaits     = 64
	StateOn        = stateWaits + 1 // on a CPU, without a sample
	StatePreempted = stateWaits + 2
	StateRunQueue  = stateWaits + 3
	StateBlocked   = stateWaits + 4
	StateDisk      = stateWaits + 5
	StateSum       = stateWaits + WaitSum
)

// Values of wait_samples.state.
const (
	WaitBlocked = 4
	WaitSum     = 6 // the sum of waits of a blocked thread
)

// StateOfWait returns the state of a stack for a value of wait_samples.state.
func StateOfWait(state int32) int { return stateWaits + int(state) }

// WaitStack is the stack of a wait. The wait began with a sample whose stack is in a dump.
type WaitStack struct {
	Dump  int // the dump's number
	State int // as in RawStack.OMPState
}

// The markers in RawStack.Words.
const (
	MarkLeafCheck    = schema.MarkLeafCheck
	MarkTruncated    = schema.MarkTruncated
	MarkFailedUnwind = schema.MarkFailedUnwind
	MarkCall         = schema.MarkCall
)

// NoAddress is the lowest word that is never an address: as in the kernel's call chains, the last
// 4095 values are markers.
const NoAddress = ^uint64(0) - 4094

// JavaFrame is one frame of a Java stack.
type JavaFrame struct {
	Method uint64
	BCI    int32 // byte code index; -3 marks a native (JNI) method
}

// JavaMethod is a Java method.
type JavaMethod struct {
	Class, Name, Signature string // Class with dots; Signature in the JVM's form
	File                   string // source file, empty if unknown
}

// JavaThread is the life of a Java thread on an OS thread.
type JavaThread struct {
	ThreadID        int64
	Name, Group     string
	FromNS, UntilNS int64 // from the founder's start
}

// ThreadName is a name of a thread and the time during which the thread had this name.
type ThreadName struct {
	ThreadID        int64
	Number          int32 // number among the thread's names, in order of time; events have it as name_no
	Name            string
	FromNS, UntilNS int64 // from the founder's start; Never: until the end
}

// EventField describes a field of the samples of a tracepoint: a row of event_formats.
type EventField struct {
	Event, System string
	Position      int // index among the stored fields of the event
	Name, Type    string
	Offset, Size  int
	Signed        bool
	Elements      int // number of elements of an array with a fixed length; 1: no array; 0: the length differs by sample
	Dynamic, Text bool
}

// Count is what a counter counted in an interval: a row of counts.
type Count struct {
	Interval        int // from 1
	FromNS, UntilNS int64
	Event           string
	CPU             int32 // -1: all
	ThreadID        int64 // -1: all
	ThreadName      string
	Counted         bool  // whether Value is known
	Value           int64 // as counted, not scaled
	// EnabledNS and RunningNS say how long the counter was enabled, and how long it was counting on
	// the hardware; -1: there was no counter for the event.
	EnabledNS, RunningNS int64
	Unit, Scale          string
}

// RecordingGap is a period in which events may be missing: a row of recording_gaps.
type RecordingGap struct {
	FromNS, UntilNS int64
	CPU             int32 // -1: several CPUs
	Reason          int   // index in schema.GapReasons
}

// FieldValue is the value of a field.
type FieldValue struct {
	Number int64
	Text   string // if IsText
	IsText bool
}

// FieldReader reads the fields of samples, batch by batch.
type FieldReader interface {
	// Fields calls pass for each stored field of a batch of perf events. row is the event's index
	// in the batch, position is EventField.Position. first is the number of the batch's first
	// sample within the recording.
	Fields(events arrow.RecordBatch, first int64, pass func(row, position int, v FieldValue)) error
	// Close ends the reading, and reports the problems of the fields.
	Close()
}

// ThreadState is a period in which a thread was in one state: a row of thread_states.
type ThreadState struct {
	Process                 int // number of the process; 0: not recorded
	ThreadID                int64
	FromNS, UntilNS         int64
	State, Border           int   // indexes in schema.StateNames and schema.BorderNames
	CPU                     int32 // -1: unknown
	WaitSample, WakerSample int64 // -1: none
	WakerThread             int64 // -1: unknown
}

// IOFile is a file as a process used it from open to close: a row of io_files.
type IOFile struct {
	Number           int32
	Process          int // number of the process; 0: a file of every process
	Name, FileSystem string
}

// OverviewRow is the resource usage between two sample points.
type OverviewRow struct {
	Label      string
	T0NS, T1NS int64
	Times      []int64 // ns, in the order of schema.OverviewTimes
	Counts     []int64 // in the order of schema.OverviewCounts
}

// MappingObserver receives the mappings of a process while the decoder opens the recording. It may
// receive some mappings several times, and others in later calls. One goroutine at a time calls it,
// and it must not block. The recording's Host, OS, Kernel and Locate are final by then.
type MappingObserver func(rec *Recording, image []MapEvent)

type observerKey struct{}

// WithMappingObserver returns a context for opening a recording with an observer.
func WithMappingObserver(ctx context.Context, early MappingObserver) context.Context {
	return context.WithValue(ctx, observerKey{}, early)
}

// MappingObserverOf returns the context's observer.
func MappingObserverOf(ctx context.Context) MappingObserver {
	if early, ok := ctx.Value(observerKey{}).(MappingObserver); ok {
		return early
	}
	return func(*Recording, []MapEvent) {}
}
