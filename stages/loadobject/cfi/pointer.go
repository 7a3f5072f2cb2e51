package cfi

import (
	"encoding/binary"

	"stackmill/internal/bytereader"
)

// reader reads a section or a part of it.
type reader struct {
	bytereader.Reader
	end        uint64 // address after the last byte
	text, data uint64 // base addresses of pointers
}

func newReader(b []byte, address uint64, order binary.ByteOrder) reader {
	return reader{Reader: bytereader.New(b, order), end: address + uint64(len(b))}
}

// address returns the address of the next byte.
func (r *reader) address() uint64 { return r.end - uint64(len(r.Rest)) }

// sub returns a reader of the next n bytes and skips them.
func (r *reader) sub(n uint64) reader {
	p := *r
	p.Reader = r.Sub(n)
	p.end = r.address()
	return p
}

// Pointer encodings (DW_EH_PE, perf-data 15.3): a format, a base, and an indirection.
const (
	peFormat   = 0x0f // mask of the format
	peAbsptr   = 0x00
	peULEB     = 0x01
	peUdata2   = 0x02
	peUdata4   = 0x03
	peUdata8   = 0x04
	peSLEB     = 0x09
	peSdata2   = 0x0a
	peSdata4   = 0x0b
	peSdata8   = 0x0c
	peRelative = 0x70 // mask of the base
	pePC       = 0x10
	peText     = 0x20
	peData     = 0x30
	peIndirect = 0x80
	peOmit     = 0xff
)

// format reads a number in an encoding's format; false for an unknown one.
func (r *reader) format(encoding uint8) (uint64, bool) {
	switch encoding & peFormat {
	case peAbsptr, peUdata8, peSdata8:
		return r.U64(), true
	case peULEB:
		return r.ULEB(), true
	case peUdata2:
		return uint64(r.U16()), true
	case peUdata4:
		return uint64(r.U32()), true
	case peSLEB:
		return uint64(r.SLEB()), true
	case peSdata2:
		return uint64(int64(int16(r.U16()))), true
	case peSdata4:
		return uint64(int64(int32(r.U32()))), true
	}
	return 0, false
}

// pointer reads an encoded address; false if resolving it requires more than the file.
func (r *reader) pointer(encoding uint8) (uint64, bool) {
	at := r.address()
	v, ok := r.format(encoding)
	switch encoding & peRelative {
	case 0:
	case pePC:
		v += at
	case peText:
		v += r.text
	case peData:
		v += r.data
	default:
		return 0, false
	}
	return v, ok && encoding&peIndirect == 0 && encoding != peOmit && !r.Short
}
