// Package bytereader reads numbers and strings from bytes that may be damaged, encoded as in DWARF
// (DWARF 5 section 7). encoding/binary has no signed LEB128, and no reader that collects errors
// for one check at the end.
package bytereader

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Reader reads from the front of Rest. A read beyond the end sets Short; it and all later reads
// return zeros.
type Reader struct {
	Rest  []byte // the unread bytes
	Big   bool   // big-endian
	Short bool
}

// New returns a reader of b.
func New(b []byte, order binary.ByteOrder) Reader {
	return Reader{Rest: b, Big: order == binary.ByteOrder(binary.BigEndian)}
}

// At returns a reader of b from an offset on; it is Short if b ends before the offset.
func At(b []byte, off uint64, order binary.ByteOrder) Reader {
	r := New(b, order)
	r.Bytes(off)
	return r
}

// Sub returns a reader of the next n bytes and skips them.
func (r *Reader) Sub(n uint64) Reader {
	return Reader{Rest: r.Bytes(n), Big: r.Big, Short: r.Short}
}

// Bytes returns the next n bytes, nil if there are fewer. They are not copied.
func (r *Reader) Bytes(n uint64) []byte {
	if n > uint64(len(r.Rest)) {
		r.Rest, r.Short = nil, true
		return nil
	}
	b := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return b
}

// Block returns the bytes of a block with a LEB128 length.
func (r *Reader) Block() []byte { return r.Bytes(r.ULEB()) }

// U8 reads a byte.
func (r *Reader) U8() uint8 {
	if len(r.Rest) == 0 {
		r.Short = true
		return 0
	}
	v := r.Rest[0]
	r.Rest = r.Rest[1:]
	return v
}

// U16 reads 2 bytes.
func (r *Reader) U16() uint16 {
	b := r.Bytes(2)
	if b == nil {
		return 0
	}
	v := binary.LittleEndian.Uint16(b)
	if r.Big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

// U32 reads 4 bytes.
func (r *Reader) U32() uint32 {
	b := r.Bytes(4)
	if b == nil {
		return 0
	}
	v := binary.LittleEndian.Uint32(b)
	if r.Big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

// U64 reads 8 bytes.
func (r *Reader) U64() uint64 {
	b := r.Bytes(8)
	if b == nil {
		return 0
	}
	v := binary.LittleEndian.Uint64(b)
	if r.Big {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// Uint reads an unsigned number of up to 8 bytes.
func (r *Reader) Uint(size int) uint64 {
	switch size {
	case 1:
		return uint64(r.U8())
	case 2:
		return uint64(r.U16())
	case 4:
		return uint64(r.U32())
	case 8:
		return r.U64()
	}
	var v uint64
	for i, b := range r.Bytes(uint64(size)) {
		if r.Big {
			v = v<<8 | uint64(b)
		} else {
			v |= uint64(b) << (8 * i)
		}
	}
	return v
}

// Offset reads an offset in a section: 4 bytes, or 8 in the 64-bit format.
func (r *Reader) Offset(wide bool) uint64 {
	if wide {
		return r.U64()
	}
	return uint64(r.U32())
}

// Length reads the initial length of a unit or table (DWARF 5 section 7.4). wide means the 64-bit
// format.
func (r *Reader) Length() (n uint64, wide bool) {
	n = uint64(r.U32())
	if n == 0xffffffff {
		return r.U64(), true
	}
	return n, false
}

// ULEB reads an unsigned LEB128 number. Bits beyond 64 are dropped.
func (r *Reader) ULEB() uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := r.U8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 {
			return v
		}
	}
}

// SLEB reads a signed LEB128 number. Bits beyond 64 are dropped.
func (r *Reader) SLEB() int64 {
	var v int64
	for shift := uint(0); ; shift += 7 {
		b := r.U8()
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

// Text reads a string up to its NUL, and skips the NUL; nil if no NUL follows. The string is not
// copied.
func (r *Reader) Text() []byte {
	n := bytes.IndexByte(r.Rest, 0)
	if n < 0 {
		r.Rest, r.Short = nil, true
		return nil
	}
	s := r.Rest[:n]
	r.Rest = r.Rest[n+1:]
	return s
}
