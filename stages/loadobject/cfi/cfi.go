// Package cfi finds the callers of code by its call frame information (DWARF 5,
// 6.4, and the forms of `.eh_frame`), from the registers and a piece of the
// stack that a profiler recorded. It knows bytes and addresses only: neither
// files nor recordings. Its reference is perf-data 15.
package cfi

import (
	"encoding/binary"

	"stackmill/stages/loadobject/isa"
)

// NumRegisters is how many registers are followed: by their DWARF numbers, and
// the program counter after them.
const NumRegisters = 33

// Input is the part of a load object that says how to unwind its code.
type Input struct {
	Arch     isa.Arch
	Order    binary.ByteOrder
	Segments []Segment // the executable ones
	EHFrame  Section
	Debug    Section // `.debug_frame`
	Entry    uint64  // address at which a process begins to run, 0 for none
	Text     uint64  // address of `.text`, to which pointers may be relative
	Data     uint64  // address of `.got`, likewise
	// Linkage are the procedure linkage tables, for which the sections may have no entry.
	Linkage []Linkage
}

// Linkage is a procedure linkage table, by link-time addresses. It saves no register.
type Linkage struct {
	End    uint64
	Depths []Depth // by growing addresses
}

// Depth says how many bytes above the stack pointer the caller's frame begins, from an
// address on; nothing is known if it is negative.
type Depth struct {
	Address uint64
	Bytes   int32
}

// Section is a section's content and the address it was linked at.
type Section struct {
	Bytes   []byte
	Address uint64
	Open    bool // its end is unknown: an entry of length 0 ends it
}

// Segment is a part of the file with the address it was linked at.
type Segment struct{ Offset, Address, Size uint64 }

// Table says for each instruction of a load object where its caller's registers
// are. It is immutable and safe for concurrent use.
type Table struct {
	Arch isa.Arch
	// Bad is how many entries could not be read; the code that they describe
	// has no rules.
	Bad      int
	starts   []uint32  // offsets in the file, sorted: row i holds up to the next
	rows     []uint32  // numbers in distinct; 0: nothing is known
	distinct []row     // 0 is not used
	rules    []ruleFor // of all rows
	programs [][]byte  // expressions
	segments []Segment
	order    binary.ByteOrder
	entry    uint64 // offset of Input.Entry, 0 for none
}

// kind is how a value is found.
type kind uint8

const (
	same          kind = iota // it is in the register still
	undefined                 // it is lost
	atCFA                     // in memory at CFA+value
	isCFA                     // CFA+value itself
	inRegister                // in register reg
	atExpression              // in memory at what expression number value computes
	isExpression              // what that expression computes
	registerBased             // register reg plus value: for the CFA only
)

// rule finds a value.
type rule struct {
	kind  kind
	reg   uint8
	value int32
}

// ruleFor is the rule of a register.
type ruleFor struct {
	register uint8
	rule
}

// row is what holds at an instruction. Registers without a rule are the same in
// the caller, except that its stack pointer is the CFA.
type row struct {
	cfa          rule
	first        uint32 // in Table.rules
	count        uint8
	returnColumn uint8
	returns      bool // returnColumn has a rule
	signal       bool // the frame that a signal's delivery made
	signed       bool // the return address is authenticated by its upper bits
}

// find returns the number of the row at an offset of the file, 0 if nothing is
// known there.
func (t *Table) find(offset uint64) uint32 {
	if n := t.piece(offset); n > 0 {
		return t.rows[n-1]
	}
	return 0
}

// maxStart bounds the code between the entry point and the call that leaves it.
const maxStart = 256

// begins reports whether code without rules is what a process begins with, which
// nothing called: it is in one piece with the entry point, and near it.
func (t *Table) begins(offset uint64) bool {
	return t.entry > 0 && offset-t.entry < maxStart && t.piece(offset) == t.piece(t.entry) && t.find(offset) == 0
}

// piece returns how many rows begin at an offset or before it.
func (t *Table) piece(offset uint64) int {
	lo, hi := 0, len(t.starts)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); uint64(t.starts[mid]) <= offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// address converts an offset in the file to the address it was linked at.
func (t *Table) address(offset uint64) (uint64, bool) {
	for _, s := range t.segments {
		if offset-s.Offset < s.Size {
			return s.Address + (offset - s.Offset), true
		}
	}
	return 0, false
}

// Rows returns how many pieces of code have rules of their own.
func (t *Table) Rows() int { return len(t.starts) }

// Bytes estimates the memory that the table takes.
func (t *Table) Bytes() int64 {
	n := 8*len(t.starts) + 24*len(t.distinct) + 12*len(t.rules) + 24*len(t.segments)
	for _, p := range t.programs {
		n += 24 + len(p)
	}
	return int64(n)
}
