package schema

import (
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// A set of modes is a bit set in memory, and a boolean column for each mode in files, in the same
// order (Modes). It says in which modes a row of a value table is valid.
const (
	UserMode   = 1
	PlainModes = 0o7  // without inlined functions
	AllModes   = 0o77 // without and with inlined functions as frames of their own (S10)
)

// Modes names the columns of a set of modes. The tables of modules, load objects and instructions
// lack the last three, because inlined functions do not change their values.
var Modes = []string{"in_user", "in_expert", "in_machine", "in_user_inlined", "in_expert_inlined", "in_machine_inlined"}

// inModes are the columns of Modes, inPlainModes the first three.
var (
	inModes = []Column{
		{Modes[0], Bool, Plain, "", false, "Whether the row belongs to user mode."},
		{Modes[1], Bool, Plain, "", false, "Whether the row belongs to expert mode."},
		{Modes[2], Bool, Plain, "", false, "Whether the row belongs to machine mode."},
		{Modes[3], Bool, Plain, "", false, "Whether the row belongs to user mode with inlined functions as frames of their own (S10)."},
		{Modes[4], Bool, Plain, "", false, "Whether the row belongs to expert mode with inlined functions as frames of their own."},
		{Modes[5], Bool, Plain, "", false, "Whether the row belongs to machine mode with inlined functions as frames of their own."},
	}
	inPlainModes = inModes[:3:3]
)

// Modes returns the set of all modes that the table has columns for, 0 if it has none.
func (t *Table) Modes() (set int32) {
	for i, name := range Modes {
		if t.Has(name) {
			set |= 1 << i
		}
	}
	return set
}

// Modes appends a set of modes.
func (r *Rows) Modes(set int32) *Rows {
	for i := range r.modes {
		r.cells[r.next].others.(*array.BooleanBuilder).Append(set>>i&1 != 0)
		r.step()
	}
	return r
}

// ModeColumns returns the number of mode columns of the table.
func (t *Table) ModeColumns() int { return bits.OnesCount32(uint32(t.Modes())) }

// ModeArrays returns the mode columns of sets of modes, one set per row.
func ModeArrays(sets []int32) []arrow.Array {
	columns := make([]arrow.Array, len(Modes))
	for i := range columns {
		b := array.NewBooleanBuilder(memory.DefaultAllocator)
		b.Reserve(len(sets))
		for _, set := range sets {
			b.UnsafeAppend(set>>i&1 != 0)
		}
		columns[i] = b.NewArray()
		b.Release()
	}
	return columns
}

// ModesOf returns the set of modes of each row of a value table. A mode column that is not Boolean
// reads as false.
func ModesOf(rows arrow.RecordBatch) []int32 {
	sets := make([]int32, rows.NumRows())
	for n, f := range rows.Schema().Fields() {
		column, _ := rows.Column(n).(*array.Boolean)
		mode := slices.Index(Modes, f.Name)
		if column == nil || mode < 0 {
			continue
		}
		for i := range sets {
			if column.Value(i) {
				sets[i] |= 1 << mode
			}
		}
	}
	return sets
}
