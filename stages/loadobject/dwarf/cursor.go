package dwarf

import (
	"bytes"
	"encoding/binary"
)

// cursor reads a section. After a read beyond its end it is short, and every
// further read gives zeros.
type cursor struct {
	b     []byte // what is left
	order binary.ByteOrder
	short bool
}

// at returns a cursor over a section from an offset on.
func at(section []byte, off uint64, order binary.ByteOrder) cursor {
	if off > uint64(len(section)) {
		return cursor{order: order, short: true}
	}
	return cursor{b: section[off:], order: order}
}

func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.b, c.short = nil, true
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) u8() uint8 {
	if len(c.b) == 0 {
		c.short = true
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
}

func (c *cursor) u16() uint16 {
	if b := c.bytes(2); b != nil {
		return c.order.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.bytes(4); b != nil {
		return c.order.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.bytes(8); b != nil {
		return c.order.Uint64(b)
	}
	return 0
}

// uint reads an unsigned number of 1 to 8 bytes.
func (c *cursor) uint(size int) uint64 {
	switch size {
	case 1:
		return uint64(c.u8())
	case 2:
		return uint64(c.u16())
	case 4:
		return uint64(c.u32())
	case 8:
		return c.u64()
	}
	var v uint64
	b := c.bytes(uint64(size))
	for i := range b {
		if c.order == binary.ByteOrder(binary.BigEndian) {
			v = v<<8 | uint64(b[i])
		} else {
			v |= uint64(b[i]) << (8 * i)
		}
	}
	return v
}

// offset reads a section offset: 4 bytes, or 8 in the 64-bit format.
func (c *cursor) offset(wide bool) uint64 {
	if wide {
		return c.u64()
	}
	return uint64(c.u32())
}

// length reads an initial length, which tells the format of what follows.
func (c *cursor) length() (n uint64, wide bool) {
	n = uint64(c.u32())
	if n == 0xffffffff {
		return c.u64(), true
	}
	return n, false
}

func (c *cursor) uleb() uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := c.u8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 {
			return v
		}
	}
}

func (c *cursor) sleb() int64 {
	var v int64
	for shift := uint(0); ; {
		b := c.u8()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
			shift += 7
		}
		if b < 0x80 {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// text reads a NUL-terminated string. It shares the section's bytes.
func (c *cursor) text() []byte {
	n := bytes.IndexByte(c.b, 0)
	if n < 0 {
		c.b, c.short = nil, true
		return nil
	}
	s := c.b[:n]
	c.b = c.b[n+1:]
	return s
}

// maxString is where strings are cut that others may refer to, since many can
// refer to one that does not end.
const maxString = 4 * maxPath

// textAt returns the string at an offset of a string section.
func textAt(section []byte, off uint64) []byte {
	c := at(section, off, nil)
	b := c.b[:min(len(c.b), maxString)]
	if n := bytes.IndexByte(b, 0); n >= 0 {
		return b[:n]
	}
	if len(b) < maxString {
		return nil
	}
	return b
}
