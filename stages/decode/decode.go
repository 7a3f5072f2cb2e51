// Package decode turns recordings into process images, raw stacks and batches
// of events. One package below it reads each input format.
package decode

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/hosterr"
	"stackmill/internal/safefile"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
)

// Decoder reads one input format.
type Decoder interface {
	// Name is the format's name, as in `experiments.format`.
	Name() string
	// Detect reports whether path holds a recording of this format. It
	// looks at names and magic bytes only.
	Detect(path string) bool
	// Members returns the paths of the recordings that path stands for:
	// path itself, or the members of a group file.
	Members(path string) ([]string, error)
	// Files returns the files whose content is the recording, relative to
	// path and sorted: they make its identity. Links to nowhere are left out.
	Files(path string) ([]string, error)
	// OpenContext reads logs, maps and stacks, and looks over the event files
	// without keeping them. It always returns a recording; when nothing could
	// be read the recording has no processes and its problems say why. When the
	// context ends, so does all reading of the recording, with a fault.
	OpenContext(ctx context.Context, path string) *Recording
}

// Recording is one experiment: a founder process and its descendants.
type Recording struct {
	Format, Version, Collector string
	Host, OS, Arch             string
	Comment                    string // what it says of itself, line by line
	CPUs, ClockMHz             int
	PageSize                   int64
	CacheLine                  int64 // bytes of a line of the data caches, 0 if not recorded
	WordBits                   int
	Started                    time.Time // zero if not recorded
	// Origin distinguishes the recording from others as soon as it has a sample, where host
	// and start are recorded last; empty for formats that begin with these.
	Origin string
	// Began is the latest time at which it may have started. Where Started is unknown
	// or inexact it comes from the file's time; zero if unknown.
	Began     time.Time
	Kernel    KernelSymbol
	Processes []*Process
	CGroups   []string // control groups, by the number that events have
	Problems  diagnostic.Log
	// Fault is a fault of the machine that kept the recording from being read: it must
	// not be committed. Usually there is none.
	Fault hosterr.First
	Clock *CompilerClock // of run-time compilers, nil if there is none
	// FromStore says that its events come from a store: durations, values and files are
	// derived already, as if a tick of the clock were a nanosecond.
	FromStore bool
	IOFiles   []IOFile // if its events come from a store
	// Locate returns the files in which the load object recorded as path may
	// be, best first (archives, then the path itself). It is safe for concurrent use,
	// also after Close.
	Locate func(path string) []Candidate
	// Close unmaps the files. No event reader may be used after it.
	Close func() error
}

// Faulted reports whether an error is a fault of the machine, which it keeps as
// the recording's Fault: it is not a problem of the recording. It is safe for concurrent use.
func (r *Recording) Faulted(err error) bool {
	if !hosterr.Is(err) {
		return false
	}
	r.Fault.Add(err)
	return true
}

// Length is how long it took.
func (r *Recording) Length() time.Duration {
	length := int64(0)
	for _, p := range r.Processes {
		length = max(length, p.StartNS+p.DurationNS)
	}
	return time.Duration(length)
}

// KernelSymbol is a symbol of the kernel and its address while recording: it
// shows how far from its link-time address the kernel was. It may be zero.
type KernelSymbol struct {
	Name    string
	Address uint64
	// Start and End are the kernel's recorded mapping, mostly its text; End is 0 if unknown.
	Start, End uint64 `json:",omitempty"`
	// From is where the kernel's part of memory begins, 0 if it begins where Linux for x86-64
	// and A64 has it.
	From uint64 `json:",omitempty"`
}

// Maps reports whether an address may be in the kernel's own code, not in that of a module
// or in code that the kernel made while it ran.
func (k KernelSymbol) Maps(address uint64) bool {
	return k.End <= k.Start || k.Start <= address && address < k.End
}

// Locator finds the files that a recording names: load objects, lists of symbols,
// sources. It is safe for concurrent use.
type Locator interface {
	// Named returns the files in which what was recorded as path may be, best first.
	Named(path string) []Candidate
	// Stored returns further files that may be the load object of that path and
	// build-id. They are used only if they have it.
	Stored(path, buildID string) []Candidate
}

// Named implements Locator: a recording by itself knows its archives and paths.
func (r *Recording) Named(path string) []Candidate { return r.Locate(path) }

// Stored implements Locator.
func (r *Recording) Stored(string, string) []Candidate { return nil }

// Candidate is a file in which a load object may be found.
type Candidate struct {
	Path   string
	Origin string // `archive`, `path` or `cache`: load_objects.symbols
}

// AtPath is the Recording.Locate of recordings without archives.
func AtPath(path string) []Candidate {
	if _, err := safefile.Stat(path); err != nil || !filepath.IsAbs(path) {
		return nil
	}
	return []Candidate{{Path: path, Origin: "path"}}
}

// Process is one process of a recording.
type Process struct {
	Number  int    // from 1; the founder is 1
	Lineage string // `_f1`; empty for the founder
	// Shared says that the recording has no files of its own for the process.
	Shared                     bool
	PID, PPID                  int64
	Target, Command, Directory string
	StartNS, DurationNS        int64 // start relative to the founder's
	Closed                     bool  // the log ends in exit or exec
	Kinds                      []KindInfo
	Counters                   []Counter
	Image                      []MapEvent // in file order
	Data                       []MapEvent // likewise: what is not executable, when it is not in Image
	JITDumps                   []JITDump
	Stacks                     *Stacks               // nil if it has no events
	JavaMethods                map[uint64]JavaMethod // by method id
	JavaThreads                []JavaThread
	ThreadNames                []ThreadName
	Overview                   []OverviewRow
	// Events returns a reader of the kind's events in the order of their
	// time (equal times: in file order). It may be called again; each reader
	// starts anew. Those of different readers may be read at once. If columns are
	// named, batches need not have others. Problems were recorded before.
	Events func(k schema.Kind, columns ...string) EventReader
	// Dumps are the stack dumps that events refer to (StackOfDump) where their stacks are
	// not among Stacks. It is nil if there are none.
	Dumps Dumps
	// Release frees what its events and dumps take: there is no reader of them any more.
	// It may be nil.
	Release func()
	// Records is the number of event packets of the kind, estimated from the files'
	// sizes, for progress only.
	Records func(schema.Kind) int64
}

// MapFile is the file of a process's address space, as problems name it.
const MapFile = "map.xml"

// File names a file of the process, or `.` its folder, as problems do: relative to
// the recording. It is `.` if all processes are in the same files.
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

// Generated is what is found outside of a recording of the code that a process made
// at run time.
type Generated struct {
	Process      *Process
	Ends, Begins []MapEvent
}

// Attach adds generated code to the process's image. At equal times, old code ends
// before what was recorded begins, and new code begins after it.
func (g *Generated) Attach() { g.Process.Image = slices.Concat(g.Ends, g.Process.Image, g.Begins) }

// EventReader iterates over batches of schema.EventSchema(kind) with at most
// schema.BatchRows rows. The caller owns each batch and releases it. A reader is used
// by one goroutine at a time.
type EventReader interface {
	// Next returns the next batch, or nil at the end.
	Next() (arrow.RecordBatch, error)
	Close()
}

// KindInfo describes a data kind that the process was recorded with.
type KindInfo struct {
	Kind schema.Kind
	// TickNS is the requested clock interval in ns; Clock only.
	TickNS int64
	// States is the log's numstates (1: Linux; 10: Solaris; 2, 3: kernel); Clock only.
	States int
}

// Counter is one hardware counter; the value of the event column `counter` is
// its Tag.
type Counter struct {
	Tag      int
	Name     string // command name, the metric's name
	Title    string
	TimeUnit bool   // its events are clock cycles, shown as time
	Unit     string `json:",omitempty"` // of its metric; empty: ns if TimeUnit, else count
	Interval int64
	Trigger  Trigger
	// Preferred says that the recording prefers its metric to be shown.
	Preferred bool `json:",omitempty"`
}

// MetricUnit is the unit of the counter's metric.
func (c *Counter) MetricUnit() string {
	switch {
	case c.Unit != "":
		return c.Unit
	case c.TimeUnit:
		return "ns"
	}
	return "count"
}

// Trigger says how the leaf PC of a counter's events relates to the instruction
// that accessed memory (S27).
type Trigger uint8

// The relations.
const (
	NoTrigger     Trigger = iota // its events are not accesses to memory
	TriggerExact                 // it is that instruction
	TriggerBehind                // it is the instruction after it
	TriggerSkid                  // it is some way after it
)

// RawStack is a recorded stack by itself.
type RawStack struct {
	Words []uint64 // native PCs, leaf first, markers included
	// Kernel is how many of the first words are the kernel's; the word after them is
	// where user code entered it.
	Kernel int
	// Returns says that the words of callers are return addresses.
	Returns bool
	Callers Callers
	// ByFrame are the numbers of the words, in a stack unwound by call frame
	// information, whose callers were found by the frame pointer because the
	// information was missing. They ascend.
	ByFrame []int32
	// Exact are the numbers of words that are PCs nevertheless: a signal interrupted
	// them, or its handler returns there. They ascend. Nil if only names can show that.
	Exact []int32
	Java  []JavaFrame
	OMP   []uint64 // OpenMP user stack, leaf first; nil when not recorded
	// OMPState is the OpenMP state, -1 when not recorded.
	OMPState int
	// Reason says why the stack is empty or ends early (`missing-stack`,
	// `missing-link`, `link-cycle`, `stack-too-long`, and those of unwinding),
	// empty when it is whole.
	Reason string
}

// Callers says how the callers on a stack were found.
type Callers uint8

// The ways.
const (
	CallersCollected Callers = iota // by the collector
	CallersNone                     // not at all
	CallersChained                  // by the chain of frame pointers: it lacks those of code without a frame
	CallersUnwound                  // by call frame information
	CallersBranches                 // by the calls that the processor has kept
)

// The markers in RawStack.Words.
const (
	MarkLeafCheck    = schema.MarkLeafCheck
	MarkTruncated    = schema.MarkTruncated
	MarkFailedUnwind = schema.MarkFailedUnwind
	MarkCall         = schema.MarkCall
)

// NoAddress is the first word that is never an address: here, as in the kernel's
// call chains, the last 4095 are marks of what other words are.
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

// ThreadName is a name of a thread for as long as it had it.
type ThreadName struct {
	ThreadID        int64
	Number          int32 // among the thread's names, in the order of time: events have it as name_no
	Name            string
	FromNS, UntilNS int64 // from the founder's start; Never: until the end
}

// IOFile is a file as one process used it from open to close: a row of io_files.
type IOFile struct {
	Number           int32
	Process          int // 0 for those every process has
	Name, FileSystem string
}

// OverviewRow is one record of resource usage between two sample points.
type OverviewRow struct {
	Label      string
	T0NS, T1NS int64
	Times      []int64 // ns, as schema.OverviewTimes
	Counts     []int64 // as schema.OverviewCounts
}
