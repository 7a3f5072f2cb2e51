package cfi

import "encoding/binary"

// reader reads a section. Behind its end everything is 0, and short is set.
type reader struct {
	b     []byte
	at    int
	base  uint64 // the address of b[0]
	order binary.ByteOrder
	text  uint64
	data  uint64
	short bool
}

func (r *reader) left() int { return len(r.b) - r.at }

// bytes returns the next n bytes, nil when there are not so many.
func (r *reader) bytes(n uint64) []byte {
	if n > uint64(r.left()) {
		r.at, r.short = len(r.b), true
		return nil
	}
	b := r.b[r.at : r.at+int(n)]
	r.at += int(n)
	return b
}

func (r *reader) u8() uint8 {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if b := r.bytes(2); b != nil {
		return r.order.Uint16(b)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.bytes(4); b != nil {
		return r.order.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.bytes(8); b != nil {
		return r.order.Uint64(b)
	}
	return 0
}

// uleb reads an unsigned LEB128 number; bits beyond 64 are dropped.
func (r *reader) uleb() uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := r.u8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 {
			return v
		}
	}
}

func (r *reader) sleb() int64 {
	var v int64
	for shift := uint(0); ; shift += 7 {
		b := r.u8()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		if b < 0x80 {
			if b&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
}

// block reads a length and so many bytes.
func (r *reader) block() []byte { return r.bytes(r.uleb()) }

// text returns what stands before the next NUL.
func (r *reader) string() string {
	start := r.at
	for r.left() > 0 {
		if r.u8() == 0 {
			return string(r.b[start : r.at-1])
		}
	}
	r.short = true
	return ""
}

// Pointer encodings (perf-data 15.3): a format, what it is relative to, and
// whether it is the address of the pointer.
const (
	encodingAbsolute = 0x00
	encodingOmitted  = 0xff
	formatMask       = 0x0f
	relativeMask     = 0x70
	relativePC       = 0x10
	relativeText     = 0x20
	relativeData     = 0x30
	indirect         = 0x80
)

// format reads a number of an encoding's format, false for an unknown one.
func (r *reader) format(encoding uint8) (uint64, bool) {
	switch encoding & formatMask {
	case 0x0, 0x4, 0xc:
		return r.u64(), true
	case 0x1:
		return r.uleb(), true
	case 0x2:
		return uint64(r.u16()), true
	case 0x3:
		return uint64(r.u32()), true
	case 0x9:
		return uint64(r.sleb()), true
	case 0xa:
		return uint64(int64(int16(r.u16()))), true
	case 0xb:
		return uint64(int64(int32(r.u32()))), true
	}
	return 0, false
}

// pointer reads an encoded address, false for an encoding that cannot be
// followed in a file.
func (r *reader) pointer(encoding uint8) (uint64, bool) {
	at := r.base + uint64(r.at)
	v, ok := r.format(encoding)
	switch encoding & relativeMask {
	case 0:
	case relativePC:
		v += at
	case relativeText:
		v += r.text
	case relativeData:
		v += r.data
	default:
		return 0, false
	}
	return v, ok && encoding&indirect == 0 && encoding != encodingOmitted && !r.short
}
