package replay

import (
	"encoding/json"
	"slices"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// EncodeProcess returns the content of a process, after generated code was attached to it.
func EncodeProcess(p *decode.Process) (string, error) {
	e := encoder{p: p, files: map[fileContent]int{}, codes: map[*decode.Code]int{}}
	c := processContent{
		Number: p.Number, Lineage: p.Lineage, Shared: p.Shared, PID: p.PID, PPID: p.PPID,
		Target: p.Target, Command: p.Command, Directory: p.Directory, StartNS: p.StartNS, DurationNS: p.DurationNS,
		Closed: p.Closed, Stacks: p.Stacks != nil, Kinds: p.Kinds, Counters: p.Counters, JITDumps: p.JITDumps, JavaThreads: p.JavaThreads,
	}
	e.touch()
	c.Image, c.Data = e.changes(p.Image), e.changes(p.Data)
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
	touched map[*decode.Code]bool // the code that a PC may lie in
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

// code returns the number of code, from 1. It omits the instructions of code that no stack
// touches.
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

// touch finds the code that stacks touch, or may touch if not all stacks are known yet.
func (e *encoder) touch() {
	e.touched = map[*decode.Code]bool{}
	all := e.p.Dumps != nil || e.p.Has(schema.HWC) // PCs are not only in Stacks
	var words []uint64
	for _, m := range e.p.Image {
		if m.Code == nil || len(m.Code.Bytes)+len(m.Code.Lines) == 0 || e.touched[m.Code] {
			continue
		}
		if words == nil && !all {
			words = e.p.Stacks.Words()
			slices.Sort(words)
		}
		i, _ := slices.BinarySearch(words, m.Address)
		// A return address may be the first byte after the code.
		e.touched[m.Code] = all || i < len(words) && words[i]-m.Address <= m.Size
	}
}

// methods returns the methods that stacks or code refer to.
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

// EncodeRecording returns the content of a recording as a whole, at its end. decoded are the
// problems that it had before its events were read.
func EncodeRecording(rec *decode.Recording, forms []decode.Form, decoded []diagnostic.Problem) (string, error) {
	return marshal(recordingContent{
		Format: rec.Format, Version: rec.Version, Collector: rec.Collector, Host: rec.Host, OS: rec.OS, Arch: rec.Arch,
		Comment: rec.Comment, CPUs: rec.CPUs, ClockMHz: rec.ClockMHz, PageSize: rec.PageSize, CacheLine: rec.CacheLine, WordBits: rec.WordBits,
		Started: rec.Started, Began: rec.Began, Kernel: rec.Kernel, Clock: rec.Clock, Processes: len(rec.Processes), CGroups: rec.CGroups,
		Forms: forms, Problems: decoded, Late: late(rec, forms),
	})
}

// The reasons of problems that reading events finds, and does not find again in a store.
const (
	Unreadable = "unreadable-events"
	Overflow   = "sum-overflow"
	badFrames  = "bad-call-frame-information" // of the information that unwinding needed
)

// late returns the problems that a store would not show again.
func late(rec *decode.Recording, forms []decode.Form) (list []diagnostic.Problem) {
	unwound := slices.ContainsFunc(forms, func(f decode.Form) bool { return f.Callers == decode.CallersUnwound })
	for _, p := range rec.Problems.Problems {
		if p.Reason == Unreadable || p.Reason == Overflow || p.Reason == badFrames && unwound {
			list = append(list, p)
		}
	}
	return list
}
