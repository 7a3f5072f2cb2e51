package elf

import (
	"bytes"
	"compress/zlib"
	debugelf "debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Bounds of decompressed sections in bytes, against decompression bombs. The debug information of
// the largest browsers stays below maxInflated. Decompressed debug information is usually 3 times,
// at most 10 times as large. maxRatio bounds a section by its compressed size; maxTotalRatio bounds
// all sections together by the file's size, because sections may overlap.
const (
	maxInflated   = 2 << 30
	maxRatio      = 256 // bound for one section
	minLimit      = 16 << 20
	maxTotalRatio = 32 // bound for all sections of a file together
	minTotalLimit = 4 * minLimit
)

// inflatedLimit bounds the decompressed size of a section or file.
func inflatedLimit(compressed int) int { return min(maxInflated, maxRatio*compressed+minLimit) }

// reserveInflated adds a section to the total decompressed size; it fails if that becomes too large.
func (f *File) reserveInflated(size uint64) error {
	most := int64(maxTotalRatio*len(f.data) + minTotalLimit)
	if size <= maxInflated {
		if f.inflated.Add(int64(size)) <= most {
			return nil
		}
		f.inflated.Add(-int64(size))
	}
	return fmt.Errorf("%d bytes when decompressed: all sections of the file would have more than their limit, %d bytes", size, most)
}

// Section returns the first section with a name, or nil.
func (f *File) Section(name string) *Section {
	for i := range f.Sections {
		if f.Sections[i].Name == name {
			return &f.Sections[i]
		}
	}
	return nil
}

// Has reports whether the file has a section of a type.
func (f *File) Has(t debugelf.SectionType) bool {
	return slices.ContainsFunc(f.Sections, func(s Section) bool { return s.Type == t })
}

// ByIndex returns the section with an ELF section number, or nil.
func (f *File) ByIndex(i int) *Section {
	if i < 1 || i > len(f.Sections) {
		return nil
	}
	return &f.Sections[i-1]
}

// Compressed reports whether the section's bytes are compressed.
func (s *Section) Compressed() bool {
	return s.Flags&debugelf.SHF_COMPRESSED != 0 || strings.HasPrefix(s.Name, ".zdebug")
}

// Data returns a section's content, decompressed if needed (SHF_COMPRESSED with zlib or zstd, and
// `.zdebug_`); nil without an error if the section has no bytes in the file. The error is a
// *DamageError.
func (f *File) Data(s *Section) ([]byte, error) {
	if s.Type == debugelf.SHT_NOBITS || s.Type == debugelf.SHT_NULL || s.Size == 0 {
		return nil, nil
	}
	b := f.Slice(s.Offset, s.Size)
	if b == nil {
		return nil, damaged(s.Offset, "section %s at offset %d: %d bytes lie beyond the end of the file", s.Name, s.Offset, s.Size)
	}
	var err error
	switch {
	case s.Flags&debugelf.SHF_COMPRESSED != 0:
		b, err = f.inflate(b)
	case s.Compressed():
		b, err = f.inflateGNU(b)
	}
	if err != nil {
		return nil, damaged(s.Offset, "section %s at offset %d: %w", s.Name, s.Offset, err)
	}
	return b, nil
}

// Debug returns the content of the section `.debug_NAME` or `.zdebug_NAME`; nil without an error if
// there is none.
func (f *File) Debug(name string) ([]byte, error) {
	for _, prefix := range []string{".debug_", ".zdebug_"} {
		if s := f.Section(prefix + name); s != nil {
			return f.Data(s)
		}
	}
	return nil, nil
}

// inflate decompresses a section that begins with a header of three words: type, size, alignment.
func (f *File) inflate(b []byte) ([]byte, error) {
	word := f.wordSize()
	if len(b) < 3*word {
		return nil, io.ErrUnexpectedEOF
	}
	kind, size := debugelf.CompressionType(f.Order.Uint32(b)), f.word(b[word:])
	b = b[3*word:]
	if err := f.reserveInflated(size); err != nil {
		return nil, err
	}
	switch kind {
	case debugelf.COMPRESS_ZLIB:
		return inflateZlib(b, size)
	case debugelf.COMPRESS_ZSTD:
		r, err := newZstd(b)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return readExactly(r, size, len(b))
	}
	return nil, fmt.Errorf("unknown compression %d", kind)
}

// inflateGNU decompresses a section in the older form: "ZLIB", the size in big-endian order, data.
func (f *File) inflateGNU(b []byte) ([]byte, error) {
	if len(b) < 12 || string(b[:4]) != "ZLIB" {
		return nil, fmt.Errorf("no ZLIB header")
	}
	size := binary.BigEndian.Uint64(b[4:])
	if err := f.reserveInflated(size); err != nil {
		return nil, err
	}
	return inflateZlib(b[12:], size)
}

func inflateZlib(b []byte, size uint64) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return readExactly(r, size, len(b))
}

// readExactly reads size bytes. Because the size may be wrong, it first allocates a multiple of the
// compressed length, and more as bytes arrive.
func readExactly(r io.Reader, size uint64, compressed int) ([]byte, error) {
	if most := uint64(inflatedLimit(compressed)); size > most {
		return nil, fmt.Errorf("%d bytes when decompressed, more than the limit of %d", size, most)
	}
	var buf bytes.Buffer
	buf.Grow(int(min(size, uint64(compressed)*8)) + bytes.MinRead)
	if _, err := io.Copy(&buf, io.LimitReader(r, int64(size))); err != nil {
		return nil, err
	}
	if uint64(buf.Len()) != size {
		return nil, fmt.Errorf("%d bytes when decompressed, but the header says %d", buf.Len(), size)
	}
	return buf.Bytes(), nil
}

// StringAt returns the NUL-terminated string at an offset of a string table, as valid UTF-8. It is
// empty if the offset is outside the table.
func StringAt(table []byte, off uint64) string {
	if off >= uint64(len(table)) {
		return ""
	}
	b := table[off:]
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n]
	}
	return strings.ToValidUTF8(string(b), "\ufffd")
}
