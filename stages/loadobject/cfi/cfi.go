// Package cfi unwinds stacks by call frame information (DWARF 5 section 6.4, and the forms of
// `.eh_frame`), from the registers and the part of the stack that a profiler recorded. It works on
// bytes and addresses, without files or recordings. docs/formats/perf-data.md, section 15, is its
// reference.
//
// Start reading with Read (build.go), which makes a table; Walker.Walk (walk.go) unwinds with it.
package cfi

import (
	"encoding/binary"
	"math"
	"slices"

	"stackmill/stages/loadobject/isa"
)

// NumRegisters is the number of tracked registers: the general ones by DWARF number, then the
// program counter.
const NumRegisters = 33

// Input is the unwinding information of a load object.
type Input struct {
	Arch     isa.Arch
	Order    binary.ByteOrder
	Segments []Segment // the executable ones
	EHFrame  Section
	Debug    Section // `.debug_frame`
	Entry    uint64  // entry point of a process, 0 for none
	Text     uint64  // address of `.text`, base of pointers
	Data     uint64  // address of `.got`, base of pointers
	// Linkage are the procedure linkage tables, used for code that the sections do not describe.
	Linkage []Linkage
}

// Linkage is a procedure linkage table with its link-time addresses. Its code saves no registers.
type Linkage struct {
	End    uint64
	Depths []Depth // by ascending address
}

// Depth is the distance in bytes from the stack pointer to the CFA; it is valid from Address on.
type Depth struct {
	Address uint64
	Bytes   int32 // negative: unknown
}

// Section is a section's content and the address it was linked at.
type Section struct {
	Bytes   []byte
	Address uint64
	Open    bool // the end is unknown: an entry of length 0 ends the section
}

// Segment is a part of the file with the address it was linked at.
type Segment struct{ Offset, Address, Size uint64 }

// Table holds the unwinding rules for each instruction of a load object. It is immutable
// and safe for concurrent use.
type Table struct {
	Arch isa.Arch
	// Bad is the number of unreadable entries. There are no rules for their code.
	Bad      int
	starts   []uint32       // offsets in the file, sorted: rows[i] is valid in [starts[i], starts[i+1])
	rows     []uint32       // indexes of distinct; 0: no rules
	distinct []row          // the first one is not used
	rules    []registerRule // the rules of all rows, one row after the other
	programs [][]byte       // DWARF expressions of rules
	segments []Segment
	order    binary.ByteOrder
	entry    uint64 // offset of Input.Entry, 0 for none
}

// kind is the kind of a register rule (DWARF 5 section 6.4.1).
type kind uint8

const (
	sameValue     kind = iota
	undefined          // the value is lost
	atCFA              // offset(N): in memory at CFA+value
	isCFA              // val_offset(N): the value is CFA+value
	inRegister         // register(R): in register reg
	atExpression       // expression(E): in memory at the result of expression number value
	isExpression       // val_expression(E): the result of expression number value
	registerBased      // register reg plus value: for the CFA only
)

// rule says how to compute the CFA, or the value that a register has in the caller.
type rule struct {
	kind  kind
	reg   uint8
	value int32
}

type registerRule struct {
	register uint8
	rule
}

// row has the unwinding rules for some instructions. Registers without a rule have the same value
// in the caller, except that the caller's stack pointer is the CFA.
type row struct {
	cfa           rule
	first         uint32 // index of the first rule in Table.rules
	count         uint8
	returnColumn  uint8
	hasReturnRule bool // returnColumn has a rule
	signal        bool // a signal frame
	signed        bool // the upper bits of the return address authenticate it
}

// find returns the number of the row at an offset of the file, 0 if there are no
// rules.
func (t *Table) find(offset uint64) uint32 {
	if n := t.rowsUpTo(offset); n > 0 {
		return t.rows[n-1]
	}
	return 0
}

// maxStart bounds the code from a process's entry point to the call of its first function.
const maxStart = 256

// isProcessStart reports whether code without rules is the outermost code of a process: it lies
// shortly after the entry point, and no row begins between them.
func (t *Table) isProcessStart(offset uint64) bool {
	return t.entry > 0 && offset-t.entry < maxStart && t.rowsUpTo(offset) == t.rowsUpTo(t.entry) && t.find(offset) == 0
}

// rowsUpTo returns how many rows begin at an offset or earlier.
func (t *Table) rowsUpTo(offset uint64) int {
	if offset >= math.MaxUint32 {
		return len(t.starts)
	}
	n, _ := slices.BinarySearch(t.starts, uint32(offset)+1)
	return n
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

// Rows returns the number of rows.
func (t *Table) Rows() int { return len(t.starts) }

// Bytes estimates the memory that the table takes.
func (t *Table) Bytes() int64 {
	n := 8*len(t.starts) + 24*len(t.distinct) + 12*len(t.rules) + 24*len(t.segments)
	for _, p := range t.programs {
		n += 24 + len(p)
	}
	return int64(n)
}
