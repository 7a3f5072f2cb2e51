package elf

import (
	"bytes"
	"compress/zlib"
	debugelf "debug/elf"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Bounds of decompressed sections, in bytes: the debug information of the largest
// browsers stays below the first; the second, a multiple of the compressed size
// plus something for small sections, stops bombs. All sections of a file together,
// which may overlap, get at most a smaller multiple of its size: debug information
// shrinks to a third, at best to a tenth.
const (
	maxInflated   = 2 << 30
	maxRatio      = 256
	smallInflated = 16 << 20
	maxRatioOfAll = 32
	someInflated  = 4 * smallInflated
)

// mayInflate counts the bytes of a section's content, and fails when they are too many.
func (f *File) mayInflate(size uint64) error {
	most := int64(maxRatioOfAll*len(f.data) + someInflated)
	if size <= maxInflated {
		if f.inflated.Add(int64(size)) <= most {
			return nil
		}
		f.inflated.Add(-int64(size))
	}
	return fmt.Errorf("%d bytes when decompressed, more than the %d that all sections of the file together may have", size, most)
}

// Section returns the first section of a name, or nil.
func (f *File) Section(name string) *Section {
	for i := range f.Sections {
		if f.Sections[i].Name == name {
			return &f.Sections[i]
		}
	}
	return nil
}

// Has reports whether there is a section of a type.
func (f *File) Has(t debugelf.SectionType) bool {
	return slices.ContainsFunc(f.Sections, func(s Section) bool { return s.Type == t })
}

// ByIndex returns the section of an ELF section number, or nil.
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

// Data returns a section's content: mapped bytes, or decompressed ones
// (SHF_COMPRESSED with zlib or zstd, and `.zdebug_`). It is nil without an
// error for a section that has no bytes in the file. The error is a
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

// Debug returns the content of the section `.debug_NAME` or `.zdebug_NAME`; nil
// without an error if there is no such section.
func (f *File) Debug(name string) ([]byte, error) {
	for _, prefix := range []string{".debug_", ".zdebug_"} {
		if s := f.Section(prefix + name); s != nil {
			return f.Data(s)
		}
	}
	return nil, nil
}

func (f *File) inflate(b []byte) ([]byte, error) {
	var size uint64
	head := 24
	if f.Class == debugelf.ELFCLASS32 {
		head = 12
	}
	if len(b) < head {
		return nil, io.ErrUnexpectedEOF
	}
	if f.Class == debugelf.ELFCLASS32 {
		size = uint64(f.Order.Uint32(b[4:]))
	} else {
		size = f.Order.Uint64(b[8:])
	}
	kind := debugelf.CompressionType(f.Order.Uint32(b))
	b = b[head:]
	if err := f.mayInflate(size); err != nil {
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

// inflateGNU reads the older form: "ZLIB" and the size in big-endian order.
func (f *File) inflateGNU(b []byte) ([]byte, error) {
	if len(b) < 12 || string(b[:4]) != "ZLIB" {
		return nil, fmt.Errorf("no ZLIB header")
	}
	var size uint64
	for _, c := range b[4:12] {
		size = size<<8 | uint64(c)
	}
	if err := f.mayInflate(size); err != nil {
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

// readExactly reads size bytes. It allocates as much as arrives, and at first as
// much as the compressed length makes likely.
func readExactly(r io.Reader, size uint64, compressed int) ([]byte, error) {
	if most := uint64(min(maxInflated, maxRatio*compressed+smallInflated)); size > most {
		return nil, fmt.Errorf("%d bytes when decompressed, more than %d", size, most)
	}
	var buf bytes.Buffer
	buf.Grow(int(min(size, uint64(compressed)*8)) + bytes.MinRead)
	if _, err := io.Copy(&buf, io.LimitReader(r, int64(size))); err != nil {
		return nil, err
	}
	if uint64(buf.Len()) != size {
		return nil, fmt.Errorf("%d bytes when decompressed, the header says %d", buf.Len(), size)
	}
	return buf.Bytes(), nil
}

// String returns the NUL-terminated string at an offset of a string table,
// empty when the offset lies outside it. It is always valid UTF-8.
func String(table []byte, off uint64) string {
	if off >= uint64(len(table)) {
		return ""
	}
	b := table[off:]
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n]
	}
	return strings.ToValidUTF8(string(b), "\ufffd")
}
