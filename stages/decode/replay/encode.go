// Package replay rebuilds a recording from a store, for the stages after decoding. The table
// `recordings` holds the parts that no other table has, as JSON of the types in this file. This
// package also writes that JSON.
//
// Start reading with EncodeRecording, which writes; Open (open.go) reads.
package replay

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// EncodeProcess returns the JSON of a process. Call it after generated code was attached.
func EncodeProcess(p *decode.Process) (string, error) {
	e := encoder{p: p, files: map[fileContent]int{}, codes: map[*decode.Code]int{}}
	c := processContent{
		Number: p.Number, Lineage: p.Lineage, Shared: p.Shared, PID: p.PID, PPID: p.PPID,
		Target: p.Target, Command: p.Command, Directory: p.Directory, StartNS: p.StartNS, DurationNS: p.DurationNS,
		Closed: p.Closed, Stacks: p.Stacks != nil, Kinds: p.Kinds, Counters: p.Counters, JITDumps: p.JITDumps, JavaThreads: p.JavaThreads,
	}
	e.touch()
	c.Image, c.Data = e.changes(p.Mappings), e.changes(p.DataMappings)
	c.JavaMethods = e.methods()
	c.Files, c.Codes = e.list, e.content
	return marshal(c)
}

func marshal(v any) (string, error) {
	data, err := json.Marshal(v)
	return string(data), err
}

// encoder collects the files and code that a process's mappings refer to.
type encoder struct {
	p       *decode.Process
	files   map[fileContent]int
	list    []fileContent
	codes   map[*decode.Code]int
	content []decode.Code
	touched map[*decode.Code]bool // code in which a PC may lie
}

func (e *encoder) changes(events []decode.MapEvent) []mapContent {
	list := make([]mapContent, len(events))
	for i := range events {
		m := &events[i]
		list[i] = mapContent{m.Unmap, m.Time, m.Address, m.Size, m.FileOffset, m.Modes, e.file(m), e.code(m)}
	}
	return list
}

func (e *encoder) file(m *decode.MapEvent) int {
	f := fileContent{anyText(m.Path), m.BuildID, m.ByPath, m.Ambiguous, m.Checksum, m.File}
	n, known := e.files[f]
	if !known {
		n = len(e.list)
		e.files[f] = n
		e.list = append(e.list, f)
	}
	return n
}

// code returns the number of a mapping's code, from 1. It omits the instructions and lines of code
// in which no PC lies.
func (e *encoder) code(m *decode.MapEvent) int {
	if m.Code == nil {
		return 0
	}
	n, known := e.codes[m.Code]
	if !known {
		c := *m.Code
		if !e.touched[m.Code] {
			c.Bytes, c.Lines = nil, nil
		}
		e.content = append(e.content, c)
		n = len(e.content)
		e.codes[m.Code] = n
	}
	return n
}

// touch finds the code that PCs touch. If Stacks does not have all PCs, all code may be touched.
func (e *encoder) touch() {
	e.touched = map[*decode.Code]bool{}
	all := e.p.Dumps != nil || e.p.Has(schema.HWC) // dumps or events have further PCs
	var words []uint64
	for _, m := range e.p.Mappings {
		if m.Code == nil || len(m.Code.Bytes)+len(m.Code.Lines) == 0 || e.touched[m.Code] {
			continue
		}
		if words == nil && !all {
			words = e.p.Stacks.Words()
			slices.Sort(words)
		}
		e.touched[m.Code] = all || decode.Touches(words, m.Address, m.Size)
	}
}

// methods returns the Java methods to which stacks or code refer.
func (e *encoder) methods() map[uint64]decode.JavaMethod {
	if len(e.p.JavaMethods) == 0 {
		return nil
	}
	used := map[uint64]decode.JavaMethod{}
	use := func(method uint64) {
		if m, ok := e.p.JavaMethods[method]; ok {
			used[method] = m
		}
	}
	for frame := range e.p.Stacks.JavaFrames {
		use(frame.Method)
	}
	for i := range e.content {
		use(e.content[i].Method)
	}
	return used
}

// EncodeRecording returns the JSON of everything about a recording but its processes. Call it after
// all events were read. decoded are the problems that the recording had before its events were
// read.
func EncodeRecording(rec *decode.Recording, forms []decode.Form, decoded []diagnostic.Problem) (string, error) {
	return marshal(recordingContent{
		Format: rec.Format, Version: rec.Version, Collector: rec.Collector, Host: rec.Host, OS: rec.OS, Arch: rec.Arch,
		Comment: rec.Comment, CPUs: rec.CPUs, ClockMHz: rec.ClockMHz, PageSize: rec.PageSize, CacheLine: rec.CacheLine, WordBits: rec.WordBits,
		Started: rec.Started, Began: rec.Began, Kernel: rec.Kernel, Clock: rec.Clock, Processes: len(rec.Processes), CGroups: rec.CGroups,
		Forms: forms, Problems: decoded, Late: late(rec, forms),
	})
}

// The reasons of problems that stages find when they read a recording, but not when they read it
// from a store.
const (
	Unreadable = "unreadable-events"
	Overflow   = "sum-overflow"
	badFrames  = "bad-call-frame-information" // in information that unwinding needed
)

// late returns the problems that a second run, from the store, would not find.
func late(rec *decode.Recording, forms []decode.Form) (list []diagnostic.Problem) {
	unwound := slices.ContainsFunc(forms, func(f decode.Form) bool { return f.Callers == decode.CallersUnwound })
	for _, p := range rec.Problems.Problems {
		if p.Reason == Unreadable || p.Reason == Overflow || p.Reason == badFrames && unwound {
			list = append(list, p)
		}
	}
	return list
}

// recordingContent is the content of part 0 of the table: everything but the processes.
type recordingContent struct {
	Format    string                `json:"format"`
	Version   string                `json:"version"`
	Collector string                `json:"collector"`
	Host      string                `json:"host"`
	OS        string                `json:"os"`
	Arch      string                `json:"arch"`
	Comment   string                `json:"comment,omitempty"`
	CPUs      int                   `json:"cpus"`
	ClockMHz  int                   `json:"clock_mhz"`
	PageSize  int64                 `json:"page_size"`
	CacheLine int64                 `json:"cache_line"`
	WordBits  int                   `json:"word_bits"`
	Started   time.Time             `json:"started,omitzero"`
	Began     time.Time             `json:"began,omitzero"`
	Kernel    decode.KernelSymbol   `json:"kernel,omitzero"`
	Clock     *decode.CompilerClock `json:"clock,omitempty"`
	Processes int                   `json:"processes"`
	CGroups   []string              `json:"cgroups,omitempty"`
	Forms     []decode.Form         `json:"forms"`
	// Problems are the problems found by the decoder. Late are problems found by later stages that
	// a second run of these stages would not find.
	Problems []diagnostic.Problem `json:"problems"`
	Late     []diagnostic.Problem `json:"late"`
}

// processContent is the content of every other part of the table: one process.
type processContent struct {
	Number      int                          `json:"number"`
	Lineage     string                       `json:"lineage,omitempty"`
	Shared      bool                         `json:"shared,omitempty"`
	PID         int64                        `json:"pid"`
	PPID        int64                        `json:"ppid"`
	Target      string                       `json:"target"`
	Command     string                       `json:"command"`
	Directory   string                       `json:"directory,omitempty"`
	StartNS     int64                        `json:"start_ns"`
	DurationNS  int64                        `json:"duration_ns"`
	Closed      bool                         `json:"closed"`
	Stacks      bool                         `json:"stacks"` // the process has events
	Kinds       []decode.KindInfo            `json:"kinds"`
	Counters    []decode.Counter             `json:"counters,omitempty"`
	JITDumps    []decode.JITDump             `json:"jit_dumps,omitempty"`
	JavaMethods map[uint64]decode.JavaMethod `json:"java_methods,omitempty"`
	JavaThreads []decode.JavaThread          `json:"java_threads,omitempty"`
	Files       []fileContent                `json:"files"` // the files that Image and Data refer to
	Image       []mapContent                 `json:"image"`
	Data        []mapContent                 `json:"data,omitempty"`
	Codes       []decode.Code                `json:"codes,omitempty"` // the code that Image and Data refer to
}

// fileContent describes the file of a mapping.
type fileContent struct {
	Path      anyText       `json:"path"`
	BuildID   string        `json:"build_id,omitempty"`
	ByPath    bool          `json:"by_path,omitempty"`
	Ambiguous bool          `json:"ambiguous,omitempty"`
	Checksum  uint32        `json:"checksum,omitempty"`
	ID        decode.FileID `json:"id,omitzero"`
}

// mapContent is a decode.MapEvent. In JSON it is a list: 1 if it ends a mapping, else 0; time,
// address, size, file offset, modes, index in Files, and number in Codes (from 1; 0: no code).
type mapContent struct {
	Unmap                     bool
	Time                      int64
	Address, Size, FileOffset uint64
	Modes, File, Code         int
}

// MarshalJSON writes the fields as a list.
func (c mapContent) MarshalJSON() ([]byte, error) {
	unmap := 0
	if c.Unmap {
		unmap = 1
	}
	return json.Marshal([]any{unmap, c.Time, c.Address, c.Size, c.FileOffset, c.Modes, c.File, c.Code})
}

// UnmarshalJSON reads a list.
func (c *mapContent) UnmarshalJSON(data []byte) error {
	unmap := 0
	list := []any{&unmap, &c.Time, &c.Address, &c.Size, &c.FileOffset, &c.Modes, &c.File, &c.Code}
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	c.Unmap = unmap == 1
	return nil
}

// anyText is a string that may not be UTF-8.
type anyText string

// MarshalJSON writes invalid UTF-8 as base64 in a list.
func (t anyText) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal([]string{base64.StdEncoding.EncodeToString([]byte(t))})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *anyText) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] != '[' {
		return json.Unmarshal(data, (*string)(t))
	}
	var list [1][]byte
	err := json.Unmarshal(data, &list)
	*t = anyText(list[0])
	return err
}
