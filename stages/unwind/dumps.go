package unwind

import (
	"encoding/binary"
	"sync"

	"stackmill/internal/memo"
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

// NewDumpUnwinder returns an unwinder that uses the tables.
func NewDumpUnwinder(tables *FrameTables) *DumpUnwinder { return &DumpUnwinder{tables: tables} }

// Process continues with the dumps of another process.
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

// dumpWalker is a DumpUnwinder's Walker.
type dumpWalker struct {
	dumps    *DumpUnwinder
	machines map[decode.Machine]*cfi.Walker
	finder   *image.Finder
	mappings map[*image.Mapping]*cfi.Table
	used     []tableUse  // since the last report
	walker   *cfi.Walker // nil before the process's first dump
	machine  decode.Machine
	regs     cfi.Registers
}

// tableUse is a table that a walker used for the first time, and the load object's path.
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

// Report implements Walker: it reports the defects of tables.
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

// generated reads the call frame information of code that a run-time compiler announced.
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

// memory gives a walker access to the process's image.
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

// Read implements cfi.Memory. It reads files, so that it rejects writable mappings, which may
// differ from theirs.
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
