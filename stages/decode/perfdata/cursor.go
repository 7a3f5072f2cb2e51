package perfdata

import (
	"bytes"
	"strings"

	"stackmill/internal/bytereader"
)

// cursor reads numbers and strings from a part of a recording.
type cursor struct {
	bytereader.Reader
	torn bool // a string continued after its NUL
}

func cursorOf(b []byte, big bool) cursor {
	return cursor{Reader: bytereader.Reader{Rest: b, Big: big}}
}

func (c *cursor) s32() int32 { return int32(c.U32()) }

// string reads a string of a feature: its length, and that many bytes, padded with NULs.
func (c *cursor) string() string {
	b := c.Bytes(uint64(c.U32()))
	s, padding, _ := bytes.Cut(b, []byte{0})
	c.torn = c.torn || len(bytes.Trim(padding, "\x00")) > 0
	return text(s)
}

// fileName returns the bytes before the first NUL. File names need not be UTF-8.
func fileName(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}

// text returns the bytes before the first NUL as valid UTF-8.
func text(b []byte) string { return strings.ToValidUTF8(fileName(b), "\uFFFD") }
