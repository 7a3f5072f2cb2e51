package build

import (
	debugdwarf "debug/dwarf"
	"math"

	"stackmill/internal/bytereader"
	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/dwop"
)

// entry is the entry of a type, a variable or a scope, with its attributes.
type entry struct {
	dwarf.Attrs
	tag debugdwarf.Tag
	key uint64
}

// has reports whether a flag, or a number other than 0, is among the attributes.
func (e *entry) has(attr debugdwarf.Attr) bool { return e.Get(attr).Uint != 0 }

// number returns a constant attribute, or otherwise if there is none.
func (e *entry) number(attr debugdwarf.Attr, otherwise int64) int64 {
	return number64(e.Get(attr), otherwise)
}

// origin returns the attribute that refers to the abstract origin or specification.
func (e *entry) origin() dwarf.Value {
	return e.Get(debugdwarf.AttrAbstractOrigin, debugdwarf.AttrSpecification)
}

// absent is the value of rawMember.bitOffset without the attribute.
const absent = math.MinInt64

// maxExtent bounds sizes, offsets and counts, so that their sums do not overflow.
const maxExtent = 1 << 50

// number64 returns a constant, or otherwise if the attribute is not one.
func number64(v dwarf.Value, otherwise int64) int64 {
	n := int64(v.Uint)
	switch v.Form {
	case dwarf.FormData1, dwarf.FormData2, dwarf.FormData4, dwarf.FormData8, dwarf.FormUdata, dwarf.FormSdata, dwarf.FormImplicitConst:
	default:
		return otherwise
	}
	if n < -maxExtent || n > maxExtent {
		return otherwise
	}
	return n
}

// extent returns the number of elements in a dimension of an array; -1 if the number is missing or
// known only at run time. first is the default lower bound.
func (e *entry) extent(first int64) int64 {
	if count := e.Get(debugdwarf.AttrCount); count.Form != 0 {
		return max(number64(count, -1), -1)
	}
	lower := e.number(debugdwarf.AttrLowerBound, first)
	upper := e.number(debugdwarf.AttrUpperBound, -1<<40)
	if upper < -1<<30 {
		return -1
	}
	return max(upper-lower+1, 0) // compilers write -1 for an empty dimension
}

// memberOffset returns a member's offset in its aggregate, in bytes; false if the offset is not
// constant, as for virtual bases.
func (e *entry) memberOffset() (int64, bool) {
	v := e.Get(debugdwarf.AttrDataMemberLoc)
	switch v.Form {
	case 0:
		return 0, true
	case dwarf.FormExprloc, dwarf.FormBlock, dwarf.FormBlock1, dwarf.FormBlock2, dwarf.FormBlock4: // an expression, in DWARF 2
		c := bytereader.Reader{Rest: v.Bytes}
		switch c.U8() {
		case dwop.PlusUconst:
			n := c.ULEB()
			return int64(n), len(c.Rest) == 0 && !c.Short && n < maxExtent
		case dwop.Constu:
			n := c.ULEB()
			return int64(n), len(c.Rest) == 1 && c.Rest[0] == dwop.Plus && n < maxExtent
		}
		return 0, false
	}
	n := number64(v, -1)
	return n, n >= 0
}
