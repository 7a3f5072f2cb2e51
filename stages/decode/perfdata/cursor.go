package perfdata

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// cursor reads numbers from a part of a recording. A read beyond the end sets short; it
// and all that follow return zeros.
type cursor struct {
	b     []byte
	big   bool // byte order
	short bool
	torn  bool // a string went on after its NUL
}

// bytes returns the next n bytes, nil if there are fewer.
func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.b, c.short = nil, true
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) u16() uint16 {
	b := c.bytes(2)
	if b == nil {
		return 0
	}
	v := binary.LittleEndian.Uint16(b)
	if c.big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

func (c *cursor) u32() uint32 {
	if len(c.b) < 4 {
		c.b, c.short = nil, true
		return 0
	}
	v := binary.LittleEndian.Uint32(c.b)
	if c.big {
		v = bits.ReverseBytes32(v)
	}
	c.b = c.b[4:]
	return v
}

func (c *cursor) u64() uint64 {
	if len(c.b) < 8 {
		c.b, c.short = nil, true
		return 0
	}
	v := binary.LittleEndian.Uint64(c.b)
	if c.big {
		v = bits.ReverseBytes64(v)
	}
	c.b = c.b[8:]
	return v
}

func (c *cursor) s32() int32 { return int32(c.u32()) }

// string reads a string of a feature section: its length, and as many bytes, which
// perf pads with NULs.
func (c *cursor) string() string {
	b := c.bytes(uint64(c.u32()))
	s, padding, _ := bytes.Cut(b, []byte{0})
	c.torn = c.torn || len(bytes.Trim(padding, "\x00")) > 0
	return text(s)
}

// text returns the bytes before the first NUL as valid UTF-8.
func text(b []byte) string {
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n]
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
