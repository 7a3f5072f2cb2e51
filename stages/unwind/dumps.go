package unwind

import (
	"encoding/binary"
	"sync"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

// Dumps unwinds the recorded registers and stacks of a recording's processes,
// one process after the other (perf-data 15).
type Dumps struct {
	tables  *FrameTables
	process *symbolize.Process
	reading sync.Mutex // process reads files
	walkers []*walker
}

// NewDumps returns an unwinder.
func NewDumps(tables *FrameTables) *Dumps { return &Dumps{tables: tables} }

// Process says that the next dumps are of this process.
func (d *Dumps) Process(p *symbolize.Process) { d.process = p }

// Walkers returns so many walkers of the process's dumps.
func (d *Dumps) Walkers(n int) (list []Walker) {
	for len(d.walkers) < n {
		d.walkers = append(d.walkers, &walker{dumps: d, machines: map[decode.Machine]*cfi.Walker{}})
	}
	for _, w := range d.walkers[:n] {
		w.finder, w.walker = d.process.Image.Finder(), nil
		w.mappings = map[*image.Mapping]*cfi.Table{}
		list = append(list, w)
	}
	return list
}

// walker is a Walker of Dumps.
type walker struct {
	dumps    *Dumps
	machines map[decode.Machine]*cfi.Walker
	finder   *image.Finder
	mappings map[*image.Mapping]*cfi.Table
	asked    []askedTable // since the last report
	walker   *cfi.Walker  // nil before the process's first dump
	machine  decode.Machine
	regs     cfi.Registers
}

// askedTable is a table that a walker used for the first time, and the object that it
// used it for.
type askedTable struct {
	*frameTable
	path string
}

// Unwind implements Walker.
func (w *walker) Unwind(dump *decode.StackDump) *cfi.Stack {
	if w.walker == nil {
		w.walker, w.machine = w.machines[dump.Machine], dump.Machine
		if w.walker == nil {
			w.walker = cfi.NewWalker(dump.Machine.Arch, dump.Machine.Big)
			w.machines[dump.Machine] = w.walker
		}
		w.walker.Process(memory{w})
	}
	w.regs.Value, w.regs.Known = dump.Registers, dump.Known
	return w.walker.Walk(&w.regs, dump.Stack, dump.Full, dump.Time)
}

// Report implements Walker: it is about tables.
func (w *walker) Report() func() {
	asked := w.asked
	if len(asked) == 0 {
		return nil
	}
	w.asked = nil
	return func() {
		for _, t := range asked {
			w.dumps.tables.report(t.frameTable, t.path)
		}
	}
}

// table returns the call frame information of a mapping's load object.
func (w *walker) table(m *image.Mapping) *cfi.Table {
	t, ok := w.mappings[m]
	if ok {
		return t
	}
	f := w.generated(m)
	if m.Code == nil {
		f = w.dumps.tables.find(w.dumps.process.File(m))
	}
	w.asked = append(w.asked, askedTable{f, m.Path})
	w.mappings[m] = f.table
	return f.table
}

// generated reads the call frame information of code that a run-time compiler made.
func (w *walker) generated(m *image.Mapping) *frameTable {
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

// memory is the process's image as the walker sees it.
type memory struct{ w *walker }

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

// Read implements cfi.Memory: what may be written at run time is not believed.
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
