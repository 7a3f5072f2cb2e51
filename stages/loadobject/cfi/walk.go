package cfi

import (
	"stackmill/internal/bytereader"
	"stackmill/stages/loadobject/isa"
)

// Reasons why a stack ends before its outermost frame.
const (
	DumpTooShort  = "dump-too-short"  // the stack continues beyond the dump
	Unreadable    = "unreadable"      // a saved register is in memory that was not recorded
	NoCFI         = "no-cfi"          // the code has no unwinding rules
	NoCode        = "no-code"         // the program counter, or a supposed return address, is not in code
	BadCFI        = "bad-cfi"         // the rules fail, or lead back to the same frame
	LostRegister  = "lost-register"   // a rule needs a register whose value is unknown
	TooManyFrames = "too-many-frames" // MaxFrames
)

// MaxFrames bounds a stack: the largest dump has 64 KiB, and frames are multiples of 16 bytes.
const MaxFrames = 4096

// Registers are a thread's registers, by DWARF number; the program counter is isa.Arch.PC. Bit i of
// Known is set if Value[i] is known.
type Registers struct {
	Value [NumRegisters]uint64
	Known uint64
}

// Memory gives access to a process's code and to the files mapped into it.
type Memory interface {
	// Code returns the code that was mapped at an address at a time.
	Code(address uint64, time int64) Code
	// Read fills b from the file mapped at an address.
	Read(address uint64, time int64, b []byte) bool
}

// Code is a location in a load object, to which an address was mapped.
type Code struct {
	From, Until int64  // the time range in which this is valid
	Executable  bool   // the address has code
	Table       *Table // nil: the object has no call frame information
	Offset      uint64 // in the object's file
}

// Stack is the result of a walk. It is valid until the next walk.
type Stack struct {
	// Words are the program counter and the return addresses of its callers.
	Words []uint64
	// Exact are the indexes of words, other than the first one, that are not return addresses:
	// signal trampolines, and instructions that a signal interrupted.
	Exact []int32
	// ByFrame are the indexes of words whose code has no rules. The frame pointer gave their caller
	// or, being 0, showed that there is none. If such code has no frame of its own, its caller is
	// missing.
	ByFrame []int32
	Reason  string // why the stack ends early; empty if it is complete
}

// Walker unwinds the stacks of one process after another. It is not safe for concurrent use.
type Walker struct {
	arch   isa.Arch
	big    bool
	mem    Memory
	regs   Registers
	dump   []byte // the stack from base on
	base   uint64
	full   bool
	time   int64
	code   cachedCode
	failed string // why reading memory failed

	stack    Stack
	scratch  [8]byte
	steps    int              // operations of all expressions in this walk
	operands [maxStack]uint64 // stack of the current expression
	cache    []cachedCode
	process  int32 // number of the current process, from 1
}

// cachedCode is the code at address lookup of a process, with the number of its row.
type cachedCode struct {
	lookup      uint64
	from, until int64
	table       *Table
	offset      uint64
	row         uint32
	process     int32 // valid while it equals Walker.process
	executable  bool
}

// cacheBits is the binary logarithm of the number of cached addresses: the stacks of a compiler's
// run have tens of thousands of different return addresses.
const cacheBits = 14

// NewWalker returns a walker for an instruction set and byte order.
func NewWalker(arch isa.Arch, big bool) *Walker {
	return &Walker{arch: arch, big: big, cache: make([]cachedCode, 1<<cacheBits)}
}

// Process sets the process of the next walks.
func (w *Walker) Process(m Memory) {
	w.mem = m
	w.process++
}

// Walk unwinds a stack from the registers, with the code that was mapped at the given time. dump is
// the memory from the stack pointer upwards; full means that the dump was cut off, so that the
// stack may continue beyond it.
func (w *Walker) Walk(regs *Registers, dump []byte, full bool, time int64) *Stack {
	w.regs, w.dump, w.full, w.time, w.steps = *regs, dump, full, time, 0
	w.base = regs.Value[w.arch.SP()]
	pc := regs.Value[w.arch.PC()]
	w.stack.Words = append(w.stack.Words[:0], pc)
	w.stack.Exact, w.stack.ByFrame = w.stack.Exact[:0], w.stack.ByFrame[:0]
	w.stack.Reason = w.callers(pc)
	return &w.stack
}

// callers appends the callers of the first frame (perf-data 15.5). It returns why it stopped before
// the outermost frame, if it did.
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

// caller steps to the calling frame. It returns the caller's program counter, or end if there is no
// caller, or the reason why the caller is unknown.
func (w *Walker) caller() (pc uint64, end bool, reason string) {
	w.failed = ""
	if w.code.row != 0 {
		pc, end, reason = w.callerByRules(w.code.table, &w.code.table.distinct[w.code.row])
	} else {
		pc, end, reason = w.callerByFramePointer()
	}
	return pc, end || pc == 0 && reason == "", reason
}

// callerByRules steps to the calling frame by the rules of a row.
func (w *Walker) callerByRules(t *Table, r *row) (pc uint64, end bool, reason string) {
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
			return 0, false, w.failure()
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
	case !r.hasReturnRule && r.returnColumn == w.arch.PC(): // neither a rule nor a link register
		return 0, false, BadCFI
	}
	pc = w.regs.Value[r.returnColumn]
	if r.signed {
		pc = w.stripSignature(pc)
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
		return 0, w.failure()
	}
	return v, ""
}

// apply computes a register's value in the caller; false if it is unknown.
func (w *Walker) apply(t *Table, r *registerRule, cfa uint64) (uint64, bool) {
	switch r.kind {
	case atCFA:
		at := cfa + uint64(int64(r.value))
		if at < w.base && w.regs.Known>>r.register&1 != 0 && r.register != w.arch.PC() {
			return w.regs.Value[r.register], true // saved below the stack pointer: an epilogue has restored it
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

// failure returns why a rule failed: because memory could not be read, or because the rule is bad.
func (w *Walker) failure() string {
	if w.failed != "" {
		return w.failed
	}
	return BadCFI
}

func (w *Walker) word(address uint64) (uint64, bool) {
	b, ok := w.memory(address, 8)
	value := bytereader.Reader{Rest: b, Big: w.big}
	return value.U64(), ok
}

// memory returns up to 8 bytes from the dump, or else from the file mapped at the address. The
// bytes are valid until the next call.
func (w *Walker) memory(address uint64, size int) ([]byte, bool) {
	if at := address - w.base; at < uint64(len(w.dump)) && uint64(len(w.dump))-at >= uint64(size) {
		return w.dump[at : at+uint64(size)], true
	}
	if b := w.scratch[:size]; w.mem.Read(address, w.time, b) {
		return b, true
	}
	w.failed = Unreadable
	if w.full && address >= w.base {
		w.failed = DumpTooShort
	}
	return nil, false
}

func (w *Walker) find(lookup uint64) cachedCode {
	p := &w.cache[lookup*0x9e3779b97f4a7c15>>(64-cacheBits)]
	if p.lookup == lookup && p.process == w.process && p.from <= w.time && w.time < p.until {
		return *p
	}
	c := w.mem.Code(lookup, w.time)
	*p = cachedCode{lookup: lookup, from: c.From, until: c.Until, table: c.Table, offset: c.Offset, process: w.process, executable: c.Executable}
	if c.Table != nil && c.Table.Arch == w.arch {
		p.row = c.Table.find(c.Offset)
	}
	return *p
}
