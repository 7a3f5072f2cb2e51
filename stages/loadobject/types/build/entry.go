package build

import (
	"math"

	"stackmill/internal/bytereader"
	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/dwop"
)

// entry has the attributes of a type, a variable or a scope.
type entry struct {
	tag           uint64
	key           uint64
	name, linkage dwarf.Value
	typ           dwarf.Value
	origin        dwarf.Value // or the declaration that it completes
	signature     dwarf.Value
	code          dwarf.Code
	location      dwarf.Value
	frameBase     dwarf.Value
	memberAt      dwarf.Value
	lower, upper  dwarf.Value
	count         dwarf.Value
	size          int64 // bytes, -1 if absent
	bits          int64
	bitOffset     int64 // before version 4, from the most significant bit of the storage, negative if it ends after that; notTold if absent
	dataBit       int64 // from the start of the aggregate; -1 if absent
	encoding      uint64
	sibling       uint64 // offset in the unit, 0 if absent
	declaration   bool
	external      bool
	abstract      bool // its code is in copies made from it
	virtual       bool
	descriptor    bool // the object contains the address of the data
}

// notTold stands for a number that the entry lacks.
const notTold = math.MinInt64

// newEntry returns the entry of a tag and a key before its attributes are read.
func newEntry(tag, key uint64) entry {
	return entry{tag: tag, key: key, size: -1, bitOffset: notTold, dataBit: -1}
}

// set takes an attribute.
func (e *entry) set(attr uint32, v dwarf.Value, u *dwarf.Unit) {
	if to := e.value(attr); to != nil {
		*to = v
		return
	}
	switch attr {
	case dwarf.AttrSibling:
		e.sibling = u.Sibling(v)
	case dwarf.AttrByteSize:
		e.size = number64(v, -1)
	case dwarf.AttrBitSize:
		e.bits = number64(v, 0)
	case dwarf.AttrBitOffset:
		e.bitOffset = number64(v, notTold)
	case dwarf.AttrDataBit:
		e.dataBit = number64(v, -1)
	case dwarf.AttrEncoding:
		e.encoding = v.Uint
	case dwarf.AttrDeclaration:
		e.declaration = v.Uint != 0
	case dwarf.AttrExternal:
		e.external = v.Uint != 0
	case dwarf.AttrInline:
		e.abstract = v.Uint == 1 || v.Uint == 3
	case dwarf.AttrVirtuality:
		e.virtual = v.Uint != 0
	case dwarf.AttrDataLocation:
		e.descriptor = true
	}
}

// value returns where to keep an attribute that is resolved later, nil for others.
func (e *entry) value(attr uint32) *dwarf.Value {
	switch attr {
	case dwarf.AttrName:
		return &e.name
	case dwarf.AttrLinkageName, dwarf.AttrMIPSLinkageName:
		return &e.linkage
	case dwarf.AttrType:
		return &e.typ
	case dwarf.AttrOrigin, dwarf.AttrSpecification:
		return &e.origin
	case dwarf.AttrSignature:
		return &e.signature
	case dwarf.AttrLowPC:
		return &e.code.Low
	case dwarf.AttrHighPC:
		return &e.code.High
	case dwarf.AttrRanges:
		return &e.code.Ranges
	case dwarf.AttrLocation:
		return &e.location
	case dwarf.AttrFrameBase:
		return &e.frameBase
	case dwarf.AttrMemberAt:
		return &e.memberAt
	case dwarf.AttrLowerBound:
		return &e.lower
	case dwarf.AttrUpperBound:
		return &e.upper
	case dwarf.AttrCount:
		return &e.count
	}
	return nil
}

// maxExtent bounds sizes, offsets and counts, so that sums of them do not
// overflow.
const maxExtent = 1 << 50

// number64 returns a constant, or otherwise if the attribute is not one.
func number64(v dwarf.Value, otherwise int64) int64 {
	n := int64(v.Uint)
	switch v.Form {
	case dwarf.FormData1, dwarf.FormData2, dwarf.FormData4, dwarf.FormData8, dwarf.FormUdata, dwarf.FormSdata, dwarf.FormImplicit:
	default:
		return otherwise
	}
	if n < -maxExtent || n > maxExtent {
		return otherwise
	}
	return n
}

// extent returns the number of elements of a dimension, -1 if it is absent or only
// known at run time.
func (e *entry) extent(first int64) int64 {
	if e.count.Form != 0 {
		return max(number64(e.count, -1), -1)
	}
	lower := number64(e.lower, first)
	upper := number64(e.upper, -1<<40)
	if upper < -1<<30 {
		return -1
	}
	return max(upper-lower+1, 0) // compilers write -1 for an empty one
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
