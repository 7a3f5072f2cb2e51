package dwarf

import "stackmill/stages/loadobject/bytereader"

// The attribute forms (DWARF 5 section 7.5.6, and GNU's).
const (
	formAddr        = 0x01
	formBlock2      = 0x03
	formBlock4      = 0x04
	formData2       = 0x05
	formData4       = 0x06
	formData8       = 0x07
	formString      = 0x08
	formBlock       = 0x09
	formBlock1      = 0x0a
	formData1       = 0x0b
	formFlag        = 0x0c
	formSdata       = 0x0d
	formStrp        = 0x0e
	formUdata       = 0x0f
	formRefAddr     = 0x10
	formRef1        = 0x11
	formRef2        = 0x12
	formRef4        = 0x13
	formRef8        = 0x14
	formRefUdata    = 0x15
	formIndirect    = 0x16
	formSecOffset   = 0x17
	formExprloc     = 0x18
	formFlagPresent = 0x19
	formStrx        = 0x1a
	formAddrx       = 0x1b
	formRefSup4     = 0x1c
	formStrpSup     = 0x1d
	formData16      = 0x1e
	formLineStrp    = 0x1f
	formRefSig8     = 0x20
	formImplicit    = 0x21
	formLoclistx    = 0x22
	formRnglistx    = 0x23
	formRefSup8     = 0x24
	formStrx1       = 0x25
	formStrx2       = 0x26
	formStrx3       = 0x27
	formStrx4       = 0x28
	formAddrx1      = 0x29
	formAddrx2      = 0x2a
	formAddrx3      = 0x2b
	formAddrx4      = 0x2c
	formGNUAddr     = 0x1f01
	formGNUStr      = 0x1f02
	formGNURefAlt   = 0x1f20
	formGNUStrpAlt  = 0x1f21
)

// value is an attribute as it stands in the section: strings and addresses by
// index are looked up later, since the base may be a later attribute.
type value struct {
	form uint64
	u    uint64
	b    []byte // formString, blocks and expressions
}

// format is what the size of a value depends on.
type format struct {
	version  int
	wide     bool // 64-bit format
	addrSize int
}

// value reads one value; false when the form is not known, after which nothing
// in the entry can be read.
func (f format) value(c *bytereader.Reader, form uint64) (value, bool) {
	if form == formIndirect {
		if form = c.ULEB(); form == formIndirect || form == formImplicit {
			return value{}, false
		}
	}
	v := value{form: form}
	if n, ok := f.size(form); ok {
		switch {
		case form == formFlagPresent:
			v.u = 1
		case n <= 8:
			v.u = c.Uint(int(n))
		default:
			c.Bytes(n)
		}
		return v, true
	}
	switch form {
	case formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddr, formGNUStr:
		v.u = c.ULEB()
	case formSdata:
		v.u = uint64(c.SLEB())
	case formString:
		v.b = c.Text()
	case formBlock, formExprloc:
		v.b = c.Block()
	case formBlock1:
		v.b = c.Bytes(c.Uint(1))
	case formBlock2:
		v.b = c.Bytes(c.Uint(2))
	case formBlock4:
		v.b = c.Bytes(c.Uint(4))
	default:
		return value{}, false
	}
	return v, true
}

// size returns the length of a value whose form alone tells it.
func (f format) size(form uint64) (n uint64, ok bool) {
	switch form {
	case formImplicit, formFlagPresent:
		return 0, true
	case formData1, formFlag, formRef1, formStrx1, formAddrx1:
		return 1, true
	case formData2, formRef2, formStrx2, formAddrx2:
		return 2, true
	case formStrx3, formAddrx3:
		return 3, true
	case formData4, formRef4, formRefSup4, formStrx4, formAddrx4:
		return 4, true
	case formData8, formRef8, formRefSig8, formRefSup8:
		return 8, true
	case formData16:
		return 16, true
	case formStrp, formSecOffset, formStrpSup, formLineStrp, formGNURefAlt, formGNUStrpAlt:
		return f.offsetSize(), true
	case formAddr:
		return uint64(f.addrSize), true
	case formRefAddr:
		if f.version <= 2 {
			return uint64(f.addrSize), true
		}
		return f.offsetSize(), true
	}
	return 0, false
}

// offsetSize returns the length of an offset in a section.
func (f format) offsetSize() uint64 {
	if f.wide {
		return 8
	}
	return 4
}
