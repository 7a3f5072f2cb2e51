package dwarf

import (
	"math"

	"stackmill/stages/loadobject/bytereader"
)

// dataEntry is what an entry says of a type, a variable or a scope.
type dataEntry struct {
	tag           uint64
	key           uint64
	name, linkage value
	typ           value
	origin        value // also what it completes
	signature     value
	code          pcs
	location      value
	frameBase     value
	memberAt      value
	lower, upper  value
	count         value
	size          int64 // bytes, -1 when not told
	bits          int64
	bitOffset     int64 // from the most significant bit of the storage, before version 4: less than 0 where it ends behind that; notTold
	dataBit       int64 // from the begin of the aggregate; -1 when not told
	encoding      uint64
	sibling       uint64 // offset in the unit, 0 when not told
	declaration   bool
	external      bool
	abstract      bool // code that is elsewhere was made from it
	virtual       bool
	descriptor    bool // the data are elsewhere, at a place that the object tells
}

// notTold is a number that no entry has.
const notTold = math.MinInt64

// newDataEntry returns the entry of a tag and a key before its attributes are read.
func newDataEntry(tag, key uint64) dataEntry {
	return dataEntry{tag: tag, key: key, size: -1, bitOffset: notTold, dataBit: -1}
}

// set takes an attribute.
func (e *dataEntry) set(attr uint32, v value, u *unit) {
	if to := e.value(attr); to != nil {
		*to = v
		return
	}
	switch attr {
	case attrSibling:
		e.sibling = u.sibling(v)
	case attrByteSize:
		e.size = number64(v, -1)
	case attrBitSize:
		e.bits = number64(v, 0)
	case attrBitOffset:
		e.bitOffset = number64(v, notTold)
	case attrDataBit:
		e.dataBit = number64(v, -1)
	case attrEncoding:
		e.encoding = v.u
	case attrDeclaration:
		e.declaration = v.u != 0
	case attrExternal:
		e.external = v.u != 0
	case attrInline:
		e.abstract = v.u == 1 || v.u == 3
	case attrVirtuality:
		e.virtual = v.u != 0
	case attrDataLocation:
		e.descriptor = true
	}
}

// value returns where an attribute is kept that is resolved later, nil for others.
func (e *dataEntry) value(attr uint32) *value {
	switch attr {
	case attrName:
		return &e.name
	case attrLinkageName, attrMIPSLinkageName:
		return &e.linkage
	case attrType:
		return &e.typ
	case attrOrigin, attrSpecification:
		return &e.origin
	case attrSignature:
		return &e.signature
	case attrLowPC:
		return &e.code.low
	case attrHighPC:
		return &e.code.high
	case attrRanges:
		return &e.code.ranges
	case attrLocation:
		return &e.location
	case attrFrameBase:
		return &e.frameBase
	case attrMemberAt:
		return &e.memberAt
	case attrLowerBound:
		return &e.lower
	case attrUpperBound:
		return &e.upper
	case attrCount:
		return &e.count
	}
	return nil
}

// maxExtent bounds sizes, offsets and counts, so that sums of them do not
// overflow.
const maxExtent = 1 << 50

// number64 returns a constant, or what is given when the attribute is none.
func number64(v value, otherwise int64) int64 {
	n := int64(v.u)
	switch v.form {
	case formData1, formData2, formData4, formData8, formUdata, formSdata, formImplicit:
	default:
		return otherwise
	}
	if n < -maxExtent || n > maxExtent {
		return otherwise
	}
	return n
}

// extent returns the number of elements of a dimension, -1 when that is not
// told or only known as the program runs.
func (e *dataEntry) extent(first int64) int64 {
	if e.count.form != 0 {
		return max(number64(e.count, -1), -1)
	}
	lower := number64(e.lower, first)
	upper := number64(e.upper, -1<<40)
	if upper < -1<<30 {
		return -1
	}
	return max(upper-lower+1, 0) // -1 is how compilers say that there is none
}

// memberOffset returns where a member begins in its aggregate, in bytes; false when that
// depends on the object, as of virtual bases.
func (e *dataEntry) memberOffset() (int64, bool) {
	v := e.memberAt
	switch v.form {
	case 0:
		return 0, true
	case formExprloc, formBlock, formBlock1, formBlock2, formBlock4: // of version 2
		c := bytereader.Reader{Rest: v.b}
		switch c.U8() {
		case opPlusUconst:
			n := c.ULEB()
			return int64(n), len(c.Rest) == 0 && !c.Short && n < maxExtent
		case opConstu:
			n := c.ULEB()
			return int64(n), len(c.Rest) == 1 && c.Rest[0] == opPlus && n < maxExtent
		}
		return 0, false
	}
	n := number64(v, -1)
	return n, n >= 0
}
