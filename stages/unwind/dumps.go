package unwind

import (
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

// Dumps unwinds the recorded registers and stacks of a recording's processes,
// one process after the other (perf-data 15). It is not safe for concurrent use.
type Dumps struct {
	tables  *FrameTables
	walkers map[decode.Machine]*cfi.Walker

	process  *symbolize.Process
	finder   *image.Finder
	mappings map[*image.Mapping]*cfi.Table
	walker   *cfi.Walker // of process, nil before its first dump
	regs     cfi.Registers
}

// NewDumps returns an unwinder.
func NewDumps(tables *FrameTables) *Dumps {
	return &Dumps{tables: tables, walkers: map[decode.Machine]*cfi.Walker{}}
}

// Process says that the next dumps are of this process.
func (d *Dumps) Process(p *symbolize.Process) {
	d.process, d.finder, d.walker = p, p.Image.Finder(), nil
	d.mappings = map[*image.Mapping]*cfi.Table{}
}

// Unwind returns the stack that a dump holds, which is valid until the next call.
func (d *Dumps) Unwind(dump *decode.StackDump) *cfi.Stack {
	if d.walker == nil {
		d.walker = d.walkers[dump.Machine]
		if d.walker == nil {
			d.walker = cfi.NewWalker(dump.Machine.Arch, dump.Machine.Big)
			d.walkers[dump.Machine] = d.walker
		}
		d.walker.Process(memory{d})
	}
	d.regs.Value, d.regs.Known = dump.Registers, dump.Known
	return d.walker.Walk(&d.regs, dump.Stack, dump.Full, dump.Time)
}

// table returns the call frame information of a mapping's load object.
func (d *Dumps) table(m *image.Mapping) *cfi.Table {
	t, ok := d.mappings[m]
	if ok {
		return t
	}
	t = d.tables.of(d.process.File(m), m.Path)
	d.mappings[m] = t
	return t
}

// memory is the process's image as the walker sees it.
type memory struct{ d *Dumps }

// Code implements cfi.Memory.
func (m memory) Code(address uint64, time int64) cfi.Code {
	s := m.d.finder.At(address, time)
	c := cfi.Code{From: s.From, Until: s.Until}
	if s.Mapping == nil || !s.Mapping.Executable() || s.Mapping.Path == decode.KernelPath {
		return c
	}
	c.Executable = true
	c.Offset = s.Mapping.FileOffset + (address - s.Mapping.Address)
	if s.Mapping.Code == nil {
		c.Table = m.d.table(s.Mapping)
	}
	return c
}

// Read implements cfi.Memory: what may be written at run time is not believed.
func (m memory) Read(address uint64, time int64, b []byte) bool {
	s := m.d.finder.At(address, time)
	if s.Mapping == nil || s.Mapping.Modes&2 != 0 || s.Mapping.End()-address < uint64(len(b)) {
		return false
	}
	return m.d.process.ReadFile(s.Mapping, s.Mapping.FileOffset+(address-s.Mapping.Address), b)
}
