package unwind

import (
	"encoding/binary"
	"sync"

	"stackmill/internal/memo"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

// DumpUnwinder unwinds the stack dumps of a recording's processes, one process after the
// other (perf-data 15).
type DumpUnwinder struct {
	tables  *FrameTables
	process *symbolize.Process
	reading sync.Mutex // guards process.ReadFile
	walkers []*dumpWalker
}

// NewDumpUnwinder returns an unwinder that uses call frame information from tables.
func NewDumpUnwinder(tables *FrameTables) *DumpUnwinder { return &DumpUnwinder{tables: tables} }

// Process makes p the process whose dumps are unwound next.
func (d *DumpUnwinder) Process(p *symbolize.Process) { d.process = p }

// Walkers returns n walkers of the process's dumps.
func (d *DumpUnwinder) Walkers(n int) (list []Walker) {
	for len(d.walkers) < n {
		d.walkers = append(d.walkers, &dumpWalker{dumps: d, machines: map[decode.Machine]*cfi.Walker{}})
	}
	for _, w := range d.walkers[:n] {
		w.finder, w.walker = d.process.Image.Finder(), nil
		w.mappings = map[*image.Mapping]*cfi.Table{}
		list = append(list, w)
	}
	return list
}

// dumpWalker implements Walker for a DumpUnwinder.
type dumpWalker struct {
	dumps    *DumpUnwinder
	machines map[decode.Machine]*cfi.Walker
	finder   *image.Finder
	mappings map[*image.Mapping]*cfi.Table
	used     []tableUse  // tables used since the last report
	walker   *cfi.Walker // nil before the process's first dump
	machine  decode.Machine
	regs     cfi.Registers
}

// tableUse is call frame information that a walker used for the first time, with the path of its
// load object.
type tableUse struct {
	*frameTable
	path string
}

// Unwind implements Walker.
func (w *dumpWalker) Unwind(dump *decode.StackDump) *cfi.Stack {
	if w.walker == nil {
		w.machine = dump.Machine
		w.walker = memo.Get(w.machines, w.machine, func() *cfi.Walker { return cfi.NewWalker(w.machine.Arch, w.machine.Big) })
		w.walker.Process(memory{w})
	}
	w.regs.Value, w.regs.Known = dump.Registers, dump.Known
	return w.walker.Walk(&w.regs, dump.Stack, dump.Full, dump.Time)
}

// Report implements Walker: the function that it returns reports the defects of call frame
// information.
func (w *dumpWalker) Report() func() {
	used := w.used
	if len(used) == 0 {
		return nil
	}
	w.used = nil
	return func() {
		for _, t := range used {
			w.dumps.tables.report(t.frameTable, t.path)
		}
	}
}

// table returns the call frame information of a mapping's load object.
func (w *dumpWalker) table(m *image.Mapping) *cfi.Table {
	return memo.Get(w.mappings, m, func() *cfi.Table {
		f := w.generated(m)
		if m.Code == nil {
			f = w.dumps.tables.find(w.dumps.process.File(m))
		}
		w.used = append(w.used, tableUse{f, m.Path})
		return f.table
	})
}

// generated reads the call frame information that a JIT compiler announced for its code.
func (w *dumpWalker) generated(m *image.Mapping) *frameTable {
	if m.Code == nil || m.Code.Unwinding == nil {
		return &frameTable{}
	}
	in := cfi.Input{
		Arch: w.machine.Arch, Order: binary.LittleEndian,
		Segments: []cfi.Segment{{Offset: m.FileOffset, Address: m.Address, Size: m.Size}},
		EHFrame:  cfi.Section{Bytes: m.Code.Unwinding, Address: m.Address + (m.Size+7)&^7},
	}
	if w.machine.Big {
		in.Order = binary.BigEndian
	}
	return newFrameTable(cfi.Read(in), nil)
}

// memory gives a cfi.Walker access to the process's mapped files.
type memory struct{ w *dumpWalker }

// Code implements cfi.Memory.
func (m memory) Code(address uint64, time int64) cfi.Code {
	s := m.w.finder.At(address, time)
	c := cfi.Code{From: s.From, Until: s.Until}
	if s.Mapping == nil || !s.Mapping.Executable() || s.Mapping.Path == decode.KernelPath {
		return c
	}
	c.Executable = true
	c.Offset = s.Mapping.FileOffset + (address - s.Mapping.Address)
	c.Table = m.w.table(s.Mapping)
	return c
}

// Read implements cfi.Memory. It reads the mapped file. It rejects writable mappings, whose memory
// may differ from the file.
func (m memory) Read(address uint64, time int64, b []byte) bool {
	s := m.w.finder.At(address, time)
	if s.Mapping == nil || s.Mapping.Modes&2 != 0 || s.Mapping.End()-address < uint64(len(b)) {
		return false
	}
	d := m.w.dumps
	d.reading.Lock()
	defer d.reading.Unlock()
	return d.process.ReadFile(s.Mapping, s.Mapping.FileOffset+(address-s.Mapping.Address), b)
}

// Frames loads the call frame information of a load object's file, nil if it has none. It is
// safe for concurrent use.
type Frames interface {
	Frames(path string) (*cfi.Table, error)
}

// FrameTables holds the call frame information of one recording's load objects.
type FrameTables struct {
	frames   Frames
	problems *diagnostic.Log

	mu     sync.Mutex
	byFile map[string]*frameTable
}

// frameTable is the call frame information of a file, and the defects of it that are not reported
// yet.
type frameTable struct {
	table   *cfi.Table // nil if there is none
	count   int64      // number of defects
	message string
}

// NewFrameTables returns tables that are loaded from frames when first used. Their defects are
// added to problems.
func NewFrameTables(frames Frames, problems *diagnostic.Log) *FrameTables {
	return &FrameTables{frames: frames, problems: problems, byFile: map[string]*frameTable{}}
}

// of returns the call frame information of a load object's file, nil if there is none. It reports
// defects under path, the file's recorded name.
func (t *FrameTables) of(file, path string) *cfi.Table {
	f := t.find(file)
	t.report(f, path)
	return f.table
}

// find returns the call frame information of a load object's file, with the defects to report. It is
// safe for concurrent use.
func (t *FrameTables) find(file string) *frameTable {
	if file == "" {
		return &frameTable{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return memo.Get(t.byFile, file, func() *frameTable { return newFrameTable(t.frames.Frames(file)) })
}

// newFrameTable returns a table with its defects; err, if not nil, is the only one.
func newFrameTable(table *cfi.Table, err error) *frameTable {
	f := &frameTable{table: table}
	switch {
	case err != nil:
		f.count, f.message = 1, err.Error()
	case table != nil && table.Bad > 0:
		f.count, f.message = int64(table.Bad), "entries of the call frame information cannot be read: stacks end at the code they describe"
	}
	return f
}

// report adds the defects of a table to the problems of the load object at path, the first time it
// is called.
func (t *FrameTables) report(f *frameTable, path string) {
	if f.count == 0 {
		return
	}
	t.problems.Add(diagnostic.Problem{Severity: diagnostic.Warning, File: path, Offset: diagnostic.NoOffset, Count: f.count,
		Reason: "bad-call-frame-information", Message: f.message})
	f.count = 0
}
