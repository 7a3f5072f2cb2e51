package dwarf

import "stackmill/internal/bytereader"

// The attribute forms (DWARF 5 section 7.5.6, and GNU's).
const (
	formAddr          = 0x01
	FormBlock2        = 0x03
	FormBlock4        = 0x04
	FormData2         = 0x05
	FormData4         = 0x06
	FormData8         = 0x07
	formString        = 0x08
	FormBlock         = 0x09
	FormBlock1        = 0x0a
	FormData1         = 0x0b
	formFlag          = 0x0c
	FormSdata         = 0x0d
	formStrp          = 0x0e
	FormUdata         = 0x0f
	FormRefAddr       = 0x10
	formRef1          = 0x11
	formRef2          = 0x12
	FormRef4          = 0x13
	formRef8          = 0x14
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	FormExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	FormAddrx         = 0x1b
	FormRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formData16        = 0x1e
	formLineStrp      = 0x1f
	FormRefSig8       = 0x20
	FormImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	FormRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx2         = 0x26
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx2        = 0x2a
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c
	formGNUAddrIndex  = 0x1f01
	formGNUStrIndex   = 0x1f02
	FormGNURefAlt     = 0x1f20
	formGNUStrpAlt    = 0x1f21
)

// Value is an attribute's value as encoded. An index of a string or address is resolved later, by
// TextOf or Address: the base of the index may be in a later attribute of the entry.
type Value struct {
	Form  uint64
	Uint  uint64
	Bytes []byte // the content of formString, blocks and expressions
}

// Format determines the sizes of values.
type Format struct {
	Version  int
	Wide     bool // 64-bit format
	AddrSize int
}

// Value reads one value; false if the form is unknown: then the rest of the entry is unreadable.
func (f Format) Value(c *bytereader.Reader, form uint64) (Value, bool) {
	if form == formIndirect {
		if form = c.ULEB(); form == formIndirect || form == FormImplicitConst {
			return Value{}, false
		}
	}
	v := Value{Form: form}
	if n, ok := f.size(form); ok {
		v.readFixed(c, n)
		return v, true
	}
	switch form {
	case FormUdata, formRefUdata, formStrx, FormAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
		v.Uint = c.ULEB()
	case FormSdata:
		v.Uint = uint64(c.SLEB())
	case formString:
		v.Bytes = c.Text()
	case FormBlock, FormExprloc:
		v.Bytes = c.Block()
	case FormBlock1:
		v.Bytes = c.Bytes(c.Uint(1))
	case FormBlock2:
		v.Bytes = c.Bytes(c.Uint(2))
	case FormBlock4:
		v.Bytes = c.Bytes(c.Uint(4))
	default:
		return Value{}, false
	}
	return v, true
}

func (v *Value) readFixed(c *bytereader.Reader, n uint64) {
	switch {
	case v.Form == formFlagPresent:
		v.Uint = 1
	case n <= 8:
		v.Uint = c.Uint(int(n))
	default:
		c.Bytes(n)
	}
}

// fixedSizes are the sizes of those forms whose size is the same in all units.
var fixedSizes = map[uint64]uint64{
	FormImplicitConst: 0, formFlagPresent: 0,
	FormData1: 1, formFlag: 1, formRef1: 1, formStrx1: 1, formAddrx1: 1,
	FormData2: 2, formRef2: 2, formStrx2: 2, formAddrx2: 2, formStrx3: 3, formAddrx3: 3,
	FormData4: 4, FormRef4: 4, FormRefSup4: 4, formStrx4: 4, formAddrx4: 4,
	FormData8: 8, formRef8: 8, FormRefSig8: 8, FormRefSup8: 8, formData16: 16,
}

// size returns the size of a form's values; false if it varies from value to value.
func (f Format) size(form uint64) (n uint64, ok bool) {
	switch form {
	case formStrp, formSecOffset, formStrpSup, formLineStrp, FormGNURefAlt, formGNUStrpAlt:
		return f.offsetSize(), true
	case formAddr:
		return uint64(f.AddrSize), true
	case FormRefAddr:
		if f.Version <= 2 {
			return uint64(f.AddrSize), true
		}
		return f.offsetSize(), true
	}
	n, ok = fixedSizes[form]
	return n, ok
}

// offsetSize returns the length of an offset in a section.
func (f Format) offsetSize() uint64 {
	if f.Wide {
		return 8
	}
	return 4
}
