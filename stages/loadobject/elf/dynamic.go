package elf

import debugelf "debug/elf"

// Checksum returns the value of the DT_CHECKSUM entry, 0 without one
// (gprofng-experiment 1.5).
func (f *File) Checksum() uint32 { return uint32(f.dynamic()[debugelf.DT_CHECKSUM]) }

// dynamic returns the entries of the dynamic segment by tag. The first entry of a tag wins.
func (f *File) dynamic() map[debugelf.DynTag]uint64 {
	b := f.sliceAvailable(f.dynamicSegment.Offset, f.dynamicSegment.FileSize)
	for i := range f.Sections {
		if s := &f.Sections[i]; len(b) == 0 && s.Type == debugelf.SHT_DYNAMIC {
			b = f.sliceAvailable(s.Offset, s.Size)
		}
	}
	entries := map[debugelf.DynTag]uint64{}
	for word := f.wordSize(); len(b) >= 2*word; b = b[2*word:] {
		tag := debugelf.DynTag(f.word(b))
		if tag == debugelf.DT_NULL {
			break
		}
		if _, ok := entries[tag]; !ok {
			entries[tag] = f.word(b[word:])
		}
	}
	return entries
}

// wordSize returns the size of an address in the file, in bytes.
func (f *File) wordSize() int {
	if f.Class == debugelf.ELFCLASS32 {
		return 4
	}
	return 8
}

// word reads an address or a size from the start of b.
func (f *File) word(b []byte) uint64 {
	if f.Class == debugelf.ELFCLASS32 {
		return uint64(f.Order.Uint32(b))
	}
	return f.Order.Uint64(b)
}

// sliceAvailable returns the file's bytes [off, off+size), cut at the end of the file.
func (f *File) sliceAvailable(off, size uint64) []byte {
	n := uint64(len(f.data))
	off = min(off, n)
	return f.data[off : off+min(size, n-off)]
}

// DynamicSymbols finds the dynamic symbols and their names by the dynamic segment, for objects
// without section headers. It returns a *DamageError if some of the symbols lie beyond the end of
// the file.
func (f *File) DynamicSymbols() (symbols, names []byte, err error) {
	d := f.dynamic()
	at, ok := f.offset(d[debugelf.DT_SYMTAB])
	if !ok {
		return nil, nil, nil
	}
	size := uint64(f.symbolSize())
	strings, ok := f.offset(d[debugelf.DT_STRTAB])
	count := f.symbolCount(d)
	if count == 0 {
		count = f.symbolRoom(d, at) / size
	}
	count = min(count, uint64(len(f.data))) // so that the product does not overflow
	symbols = f.sliceAvailable(at, count*size)
	if ok {
		names = f.sliceAvailable(strings, d[debugelf.DT_STRSZ])
	}
	if uint64(len(symbols)) < count*size || uint64(len(names)) < d[debugelf.DT_STRSZ] {
		err = damaged(at, "dynamic symbols at offset %d: some of the %d symbols or of their names lie beyond the end of the file", at, count)
	}
	return symbols, names, err
}

// offset converts a link-time address to an offset in the file.
func (f *File) offset(addr uint64) (uint64, bool) {
	for _, l := range f.Loads {
		if addr != 0 && addr >= l.Address && addr-l.Address < l.FileSize {
			return l.Offset + (addr - l.Address), true
		}
	}
	return 0, false
}

// tableTags are the entries of the dynamic segment that contain addresses of tables.
var tableTags = []debugelf.DynTag{debugelf.DT_STRTAB, debugelf.DT_HASH, debugelf.DT_GNU_HASH, debugelf.DT_VERSYM,
	debugelf.DT_VERNEED, debugelf.DT_VERDEF, debugelf.DT_RELA, debugelf.DT_REL, debugelf.DT_JMPREL, debugelf.DT_INIT}

// symbolRoom returns how many bytes lie between the start of the dynamic symbols, at offset at, and
// the next table in the file; 0 if no table follows.
func (f *File) symbolRoom(d map[debugelf.DynTag]uint64, at uint64) (room uint64) {
	for _, tag := range tableTags {
		if next, ok := f.offset(d[tag]); ok && next > at && (room == 0 || next-at < room) {
			room = next - at
		}
	}
	return room
}

// symbolCount returns the number of dynamic symbols according to the hash table. It returns 0 if
// the table cannot be read, or if it is an empty GNU hash table: such a table does not count
// imported symbols.
func (f *File) symbolCount(d map[debugelf.DynTag]uint64) uint64 {
	if at, ok := f.offset(d[debugelf.DT_HASH]); ok {
		if b := f.sliceAvailable(at, 8); len(b) == 8 {
			return uint64(f.Order.Uint32(b[4:]))
		}
	}
	at, ok := f.offset(d[debugelf.DT_GNU_HASH])
	b := f.sliceAvailable(at, uint64(len(f.data)))
	if !ok || len(b) < 16 {
		return 0
	}
	buckets, first, bloom := uint64(f.Order.Uint32(b)), uint64(f.Order.Uint32(b[4:])), uint64(f.Order.Uint32(b[8:]))
	chains := 16 + bloom*uint64(f.wordSize()) + buckets*4
	if chains > uint64(len(b)) {
		return 0
	}
	var last uint64
	for i := range buckets {
		last = max(last, uint64(f.Order.Uint32(b[chains-4*(buckets-i):])))
	}
	if last < first {
		return 0
	}
	for at := chains + (last-first)*4; at+4 <= uint64(len(b)); at += 4 {
		if last++; f.Order.Uint32(b[at:])&1 != 0 { // the chain ends
			return last
		}
	}
	return 0
}

// TruncatedSegments returns notes on segments that extend beyond the end of the file. Do not call
// it for separate debug files, where such segments are normal.
func (f *File) TruncatedSegments() []Note {
	var notes []Note
	n := uint64(len(f.data))
	for _, l := range f.Loads {
		if l.FileSize > n || l.Offset > n-l.FileSize {
			lost := l.FileSize - min(l.FileSize, n-min(l.Offset, n))
			notes = append(notes, NoteOf(damaged(l.Offset, "segment at offset %d: %d of %d bytes lie beyond the end of the file", l.Offset, lost, l.FileSize)))
		}
	}
	return notes
}
