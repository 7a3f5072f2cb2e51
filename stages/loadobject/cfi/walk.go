package cfi

import (
	"encoding/binary"

	"stackmill/stages/loadobject/isa"
)

// Reasons why a stack ends before its outermost frame.
const (
	DumpTooShort  = "dump-too-short"  // the stack goes on beyond the dump
	Unreadable    = "unreadable"      // a saved register lies in memory that was not recorded
	NoCFI         = "no-cfi"          // nothing says how the code's callers are found
	NoCode        = "no-code"         // the program counter, or what should be a return address, is in no code
	BadCFI        = "bad-cfi"         // the rules cannot be followed, or lead in a circle
	LostRegister  = "lost-register"   // a rule needs a register whose value is unknown
	TooManyFrames = "too-many-frames" // MaxFrames
)

// MaxFrames bounds a stack: the largest dump is 64 KiB, and frames are aligned to
// 16 bytes.
const MaxFrames = 4096

// Registers are a thread's registers, by DWARF number and isa.Arch.PC; bit i of
// Known says that Value[i] is.
type Registers struct {
	Value [NumRegisters]uint64
	Known uint64
}

// Memory is the known part of a process's memory besides the dump.
type Memory interface {
	// Code says what code is at an address at a time.
	Code(address uint64, time int64) Code
	// Read fills b from the file mapped at an address.
	Read(address uint64, time int64, b []byte) bool
}

// Code is a place in a load object.
type Code struct {
	From, Until int64  // the time for which this holds
	Executable  bool   // there is code at all
	Table       *Table // nil: the object has no call frame information
	Offset      uint64 // in the object's file
}

// Stack is what a walk finds. It is valid until the next.
type Stack struct {
	// Words are the program counter and the return addresses of its callers.
	Words []uint64
	// Exact are the numbers of words after the first that are not return
	// addresses: a signal's trampoline, and the instruction it interrupted.
	Exact []int32
	// ByFrame are the numbers of words whose caller, or lack of one, was found by the
	// frame pointer because they have no rules: a caller of code without a frame is
	// missing.
	ByFrame []int32
	Reason  string // why it ends early; empty when it is whole
}

// Walker finds the callers of the recorded code of one process at a time. It is
// not safe for concurrent use.
type Walker struct {
	arch   isa.Arch
	big    bool
	mem    Memory
	regs   Registers
	dump   []byte // the stack from base on
	base   uint64
	full   bool
	time   int64
	code   place
	failed string // why a read of memory failed

	stack   Stack
	scratch [8]byte
	steps   int // of the expressions of this walk
	// operands is the stack of the expression that is computed.
	operands [maxStack]uint64
	cache    []place
	process  int32 // of the places that hold
}

// place is the code at an address of a process, with its row.
type place struct {
	lookup      uint64
	from, until int64
	table       *Table
	offset      uint64
	row         uint32
	process     int32 // from 1: its places hold
	executable  bool
}

// cacheBits is the logarithm of how many places are kept: a compiler's stacks have tens of
// thousands of return addresses.
const cacheBits = 14

// NewWalker returns a walker of code of an instruction set and byte order.
func NewWalker(arch isa.Arch, big bool) *Walker {
	return &Walker{arch: arch, big: big, cache: make([]place, 1<<cacheBits)}
}

// Process says whose memory the next walks are in.
func (w *Walker) Process(m Memory) {
	w.mem = m
	w.process++
}

// Walk finds the callers of the code that was running at a time with these
// registers. dump is the memory from the stack pointer upwards; full says that
// the stack may go on beyond it.
func (w *Walker) Walk(regs *Registers, dump []byte, full bool, time int64) *Stack {
	w.regs, w.dump, w.full, w.time, w.steps = *regs, dump, full, time, 0
	w.base = regs.Value[w.arch.SP()]
	pc := regs.Value[w.arch.PC()]
	w.stack.Words = append(w.stack.Words[:0], pc)
	w.stack.Exact, w.stack.ByFrame = w.stack.Exact[:0], w.stack.ByFrame[:0]
	w.stack.Reason = w.callers(pc)
	return &w.stack
}

// callers appends the callers of the first frame until there is none (perf-data
// 15.5), and says why if that is too early.
func (w *Walker) callers(pc uint64) (reason string) {
	sp := w.arch.SP()
	w.code = w.find(pc)
	for {
		before := w.regs.Value[sp]
		caller, end, reason := w.caller()
		if end || reason != "" {
			return reason
		}
		signal := w.code.row != 0 && w.code.table.distinct[w.code.row].signal
		if caller == pc && w.regs.Value[sp] == before {
			return BadCFI
		}
		if len(w.stack.Words) == MaxFrames {
			return TooManyFrames
		}
		if w.code.row == 0 {
			w.stack.ByFrame = append(w.stack.ByFrame, int32(len(w.stack.Words)-1))
		}
		lookup := caller
		if !signal {
			lookup--
		}
		if w.code = w.find(lookup); !w.code.executable {
			return NoCode
		}
		if n := int32(len(w.stack.Words)); signal {
			if last := len(w.stack.Exact) - 1; n > 1 && (last < 0 || w.stack.Exact[last] != n-1) {
				w.stack.Exact = append(w.stack.Exact, n-1)
			}
			w.stack.Exact = append(w.stack.Exact, n)
		}
		w.stack.Words = append(w.stack.Words, caller)
		pc = caller
	}
}

// caller steps to the calling frame: it returns where that goes on, or that it was
// the outermost one, or why the caller is unknown.
func (w *Walker) caller() (pc uint64, end bool, reason string) {
	w.failed = ""
	if w.code.row != 0 {
		pc, end, reason = w.follow(w.code.table, &w.code.table.distinct[w.code.row])
	} else {
		pc, end, reason = w.chained()
	}
	return pc, end || pc == 0 && reason == "", reason
}

// follow applies a row.
func (w *Walker) follow(t *Table, r *row) (pc uint64, end bool, reason string) {
	cfa, reason := w.cfa(t, r.cfa)
	if reason != "" {
		return 0, false, reason
	}
	var found [NumRegisters]uint64
	rules := t.rules[r.first : r.first+uint32(r.count)]
	lost := uint64(0)
	for i := range rules {
		v, ok := w.apply(t, &rules[i], cfa)
		if found[i] = v; ok {
			continue
		}
		if rules[i].register == r.returnColumn {
			if rules[i].kind == undefined {
				return 0, true, ""
			}
			return 0, false, w.why()
		}
		lost |= 1 << rules[i].register
	}
	w.regs.Value[w.arch.SP()] = cfa
	for i := range rules {
		n := rules[i].register
		w.regs.Value[n] = found[i]
		w.regs.Known |= 1 << n
	}
	w.regs.Known &^= lost
	switch {
	case w.regs.Known>>r.returnColumn&1 == 0:
		return 0, false, LostRegister
	case !r.returns && r.returnColumn == w.arch.PC(): // no rule, and no link register either
		return 0, false, BadCFI
	}
	pc = w.regs.Value[r.returnColumn]
	if r.signed {
		pc = w.plain(pc)
	}
	w.regs.Value[w.arch.PC()] = pc
	w.regs.Known |= 1 << w.arch.PC()
	return pc, false, ""
}

// cfa computes the canonical frame address.
func (w *Walker) cfa(t *Table, r rule) (uint64, string) {
	if r.kind == registerBased {
		if w.regs.Known>>r.reg&1 == 0 {
			return 0, LostRegister
		}
		return w.regs.Value[r.reg] + uint64(int64(r.value)), ""
	}
	v, ok := w.expression(t, r.value, 0, false)
	if !ok {
		return 0, w.why()
	}
	return v, ""
}

// apply finds the value that a register had in the caller.
func (w *Walker) apply(t *Table, r *ruleFor, cfa uint64) (uint64, bool) {
	switch r.kind {
	case atCFA:
		at := cfa + uint64(int64(r.value))
		if at < w.base && w.regs.Known>>r.register&1 != 0 && r.register != w.arch.PC() {
			return w.regs.Value[r.register], true // below the stack pointer: an epilogue has restored it
		}
		return w.word(at)
	case isCFA:
		return cfa + uint64(int64(r.value)), true
	case inRegister:
		return w.regs.Value[r.reg], w.regs.Known>>r.reg&1 != 0
	case isExpression:
		return w.expression(t, r.value, cfa, true)
	case atExpression:
		at, ok := w.expression(t, r.value, cfa, true)
		if !ok {
			return 0, false
		}
		return w.word(at)
	}
	return 0, false
}

// why is the reason of a failure: of the last read of memory, if that failed.
func (w *Walker) why() string {
	if w.failed != "" {
		return w.failed
	}
	return BadCFI
}

// word reads a word of memory.
func (w *Walker) word(address uint64) (uint64, bool) {
	b, ok := w.memory(address, 8)
	if !ok {
		return 0, false
	}
	if w.big {
		return binary.BigEndian.Uint64(b), true
	}
	return binary.LittleEndian.Uint64(b), true
}

// memory returns up to 8 bytes: from the dump, else from the file mapped at the
// address. They are valid until the next call.
func (w *Walker) memory(address uint64, size int) ([]byte, bool) {
	if at := address - w.base; at < uint64(len(w.dump)) && uint64(len(w.dump))-at >= uint64(size) {
		return w.dump[at : at+uint64(size)], true
	}
	return w.elsewhere(address, size)
}

// elsewhere is memory outside the dump.
func (w *Walker) elsewhere(address uint64, size int) ([]byte, bool) {
	if b := w.scratch[:size]; w.mem.Read(address, w.time, b) {
		return b, true
	}
	w.failed = Unreadable
	if w.full && address >= w.base {
		w.failed = DumpTooShort
	}
	return nil, false
}

// find returns the code at an address.
func (w *Walker) find(lookup uint64) place {
	p := &w.cache[lookup*0x9e3779b97f4a7c15>>(64-cacheBits)]
	if p.lookup == lookup && p.process == w.process && p.from <= w.time && w.time < p.until {
		return *p
	}
	c := w.mem.Code(lookup, w.time)
	*p = place{lookup: lookup, from: c.From, until: c.Until, table: c.Table, offset: c.Offset, process: w.process, executable: c.Executable}
	if c.Table != nil && c.Table.Arch == w.arch {
		p.row = c.Table.find(c.Offset)
	}
	return *p
}
