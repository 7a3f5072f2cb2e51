package build

import (
	debugdwarf "debug/dwarf"
	"math"

	"stackmill/internal/bytereader"
	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/dwop"
)

// entry holds the attributes of a type, a variable or a scope.
type entry struct {
	tag           debugdwarf.Tag
	key           uint64
	name, linkage dwarf.Value
	typ           dwarf.Value
	origin        dwarf.Value // abstract origin or specification
	signature     dwarf.Value
	code          dwarf.CodeAttrs
	location      dwarf.Value
	frameBase     dwarf.Value
	memberAt      dwarf.Value
	lower, upper  dwarf.Value
	count         dwarf.Value
	size          int64 // bytes, -1 if absent
	bits          int64
	bitOffset     int64 // before version 4, from the most significant bit of the storage, negative if it ends after that
	dataBit       int64 // from the start of the aggregate; -1 if absent
	encoding      uint64
	sibling       uint64 // offset in the unit, 0 if absent
	declaration   bool
	external      bool
	virtual       bool
	descriptor    bool // DW_AT_data_location: the object is a descriptor of the data
}

// absent is the value of bitOffset without the attribute.
const absent = math.MinInt64

// newEntry returns the entry of a tag and a key before its attributes are read.
func newEntry(tag debugdwarf.Tag, key uint64) entry {
	return entry{tag: tag, key: key, size: -1, bitOffset: absent, dataBit: -1}
}

// set stores an attribute.
func (e *entry) set(attr debugdwarf.Attr, v dwarf.Value, u *dwarf.Unit) {
	if to := e.value(attr); to != nil {
		*to = v
		return
	}
	switch attr {
	case debugdwarf.AttrSibling:
		e.sibling = u.Sibling(v)
	case debugdwarf.AttrByteSize:
		e.size = number64(v, -1)
	case debugdwarf.AttrBitSize:
		e.bits = number64(v, 0)
	case debugdwarf.AttrBitOffset:
		e.bitOffset = number64(v, absent)
	case debugdwarf.AttrDataBitOffset:
		e.dataBit = number64(v, -1)
	case debugdwarf.AttrEncoding:
		e.encoding = v.Uint
	case debugdwarf.AttrDeclaration:
		e.declaration = v.Uint != 0
	case debugdwarf.AttrExternal:
		e.external = v.Uint != 0
	case debugdwarf.AttrVirtuality:
		e.virtual = v.Uint != 0
	case debugdwarf.AttrDataLocation:
		e.descriptor = true
	}
}

// value returns the field of an attribute that is resolved later, nil for other attributes.
func (e *entry) value(attr debugdwarf.Attr) *dwarf.Value {
	switch attr {
	case debugdwarf.AttrName:
		return &e.name
	case debugdwarf.AttrLinkageName, dwarf.AttrMIPSLinkageName:
		return &e.linkage
	case debugdwarf.AttrType:
		return &e.typ
	case debugdwarf.AttrAbstractOrigin, debugdwarf.AttrSpecification:
		return &e.origin
	case debugdwarf.AttrSignature:
		return &e.signature
	case debugdwarf.AttrLowpc:
		return &e.code.Low
	case debugdwarf.AttrHighpc:
		return &e.code.High
	case debugdwarf.AttrRanges:
		return &e.code.Ranges
	case debugdwarf.AttrLocation:
		return &e.location
	case debugdwarf.AttrFrameBase:
		return &e.frameBase
	case debugdwarf.AttrDataMemberLoc:
		return &e.memberAt
	case debugdwarf.AttrLowerBound:
		return &e.lower
	case debugdwarf.AttrUpperBound:
		return &e.upper
	case debugdwarf.AttrCount:
		return &e.count
	}
	return nil
}

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

// extent returns the number of elements of a dimension, -1 if it is missing or known only
// at run time.
func (e *entry) extent(first int64) int64 {
	if e.count.Form != 0 {
		return max(number64(e.count, -1), -1)
	}
	lower := number64(e.lower, first)
	upper := number64(e.upper, -1<<40)
	if upper < -1<<30 {
		return -1
	}
	return max(upper-lower+1, 0) // compilers write -1 for an empty dimension
}

// memberOffset returns the offset of a member in its aggregate, in bytes; false if it
// depends on the object, as for virtual bases.
func (e *entry) memberOffset() (int64, bool) {
	v := e.memberAt
	switch v.Form {
	case 0:
		return 0, true
	case dwarf.FormExprloc, dwarf.FormBlock, dwarf.FormBlock1, dwarf.FormBlock2, dwarf.FormBlock4: // of version 2
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
