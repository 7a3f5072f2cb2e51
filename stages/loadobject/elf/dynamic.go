package elf

import debugelf "debug/elf"

// dtChecksum is DT_CHECKSUM.
const dtChecksum = 0x6ffffdf8

// Checksum returns the value of the DT_CHECKSUM entry, 0 without one
// (gprofng-experiment 1.5).
func (f *File) Checksum() uint32 { return uint32(f.dynamic()[dtChecksum]) }

// dynamic returns the entries of the dynamic segment by tag; the first of several
// with one tag.
func (f *File) dynamic() map[int64]uint64 {
	b := f.upTo(f.dynamicAt.Offset, f.dynamicAt.FileSize)
	for i := range f.Sections {
		if s := &f.Sections[i]; len(b) == 0 && s.Type == debugelf.SHT_DYNAMIC {
			b = f.upTo(s.Offset, s.Size)
		}
	}
	step, tag, value := 16, func() int64 { return int64(f.Order.Uint64(b)) }, func() uint64 { return f.Order.Uint64(b[8:]) }
	if f.Class == debugelf.ELFCLASS32 {
		step = 8
		tag, value = func() int64 { return int64(int32(f.Order.Uint32(b))) }, func() uint64 { return uint64(f.Order.Uint32(b[4:])) }
	}
	entries := map[int64]uint64{}
	for ; len(b) >= step && tag() != int64(debugelf.DT_NULL); b = b[step:] {
		if _, ok := entries[tag()]; !ok {
			entries[tag()] = value()
		}
	}
	return entries
}

// upTo returns the file's bytes [off, off+size), cut at its end.
func (f *File) upTo(off, size uint64) []byte {
	n := uint64(len(f.data))
	off = min(off, n)
	return f.data[off : off+min(size, n-off)]
}

// DynamicSymbols returns the dynamic symbols and their names from where the
// dynamic segment says they are, for objects whose section headers are gone. The
// error is a *DamageError: some of the symbols lie beyond the end of the file.
func (f *File) DynamicSymbols() (symbols, names []byte, err error) {
	d := f.dynamic()
	at, ok := f.offset(d[int64(debugelf.DT_SYMTAB)])
	if !ok {
		return nil, nil, nil
	}
	size := uint64(f.symbolSize())
	strings, ok := f.offset(d[int64(debugelf.DT_STRTAB)])
	count := f.symbolCount(d)
	if count == 0 {
		count = f.symbolRoom(d, at) / size
	}
	count = min(count, uint64(len(f.data))) // so that the product is right
	symbols = f.upTo(at, count*size)
	if ok {
		names = f.upTo(strings, d[int64(debugelf.DT_STRSZ)])
	}
	if uint64(len(symbols)) < count*size || uint64(len(names)) < d[int64(debugelf.DT_STRSZ)] {
		err = damaged(at, "dynamic symbols at offset %d: some of the %d, or of their names, lie beyond the end of the file", at, count)
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

// tableTags are the entries of the dynamic segment that hold tables' addresses.
var tableTags = []debugelf.DynTag{debugelf.DT_STRTAB, debugelf.DT_HASH, debugelf.DT_GNU_HASH, debugelf.DT_VERSYM,
	debugelf.DT_VERNEED, debugelf.DT_VERDEF, debugelf.DT_RELA, debugelf.DT_REL, debugelf.DT_JMPREL, debugelf.DT_INIT}

// symbolRoom returns how many bytes lie between the start of the dynamic symbols, an
// offset in the file, and the next table, 0 if none follows.
func (f *File) symbolRoom(d map[int64]uint64, at uint64) (room uint64) {
	for _, tag := range tableTags {
		if next, ok := f.offset(d[int64(tag)]); ok && next > at && (room == 0 || next-at < room) {
			room = next - at
		}
	}
	return room
}

// symbolCount returns the number of dynamic symbols by their hash table, 0 if that
// cannot be read, or has no symbol: it leaves out those that the object imports.
func (f *File) symbolCount(d map[int64]uint64) uint64 {
	if at, ok := f.offset(d[int64(debugelf.DT_HASH)]); ok {
		if b := f.upTo(at, 8); len(b) == 8 {
			return uint64(f.Order.Uint32(b[4:]))
		}
	}
	at, ok := f.offset(d[int64(debugelf.DT_GNU_HASH)])
	b := f.upTo(at, uint64(len(f.data)))
	if !ok || len(b) < 16 {
		return 0
	}
	buckets, first, bloom := uint64(f.Order.Uint32(b)), uint64(f.Order.Uint32(b[4:])), uint64(f.Order.Uint32(b[8:]))
	word := uint64(8)
	if f.Class == debugelf.ELFCLASS32 {
		word = 4
	}
	chains := 16 + bloom*word + buckets*4
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
		if last++; f.Order.Uint32(b[at:])&1 != 0 { // its chain ends
			return last
		}
	}
	return 0
}

// Cut returns notes on segments that lie beyond the end of the file. In a
// separate debug file that is not damage.
func (f *File) Cut() []Note {
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
