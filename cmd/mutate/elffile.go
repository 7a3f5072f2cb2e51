package main

import "bytes"

// elfFile is a 64-bit little-endian ELF file with its section headers.
type elfFile struct {
	data     []byte
	shoff    int
	sections []elfSection
}

type elfSection struct {
	name              string
	header            int // offset of its section header in the file
	off, size, typ    int
	addr, entry, link int
}

// sectionFields are the fields of a section header.
var sectionFields = []sampleField{{"name", 0, 4}, {"type", 4, 4}, {"flags", 8, 8}, {"address", 16, 8}, {"offset", 24, 8}, {"size", 32, 8}, {"link", 40, 4}, {"info", 44, 4}, {"alignment", 48, 8}, {"entry size", 56, 8}}

var programFields = []sampleField{{"type", 0, 4}, {"flags", 4, 4}, {"offset", 8, 8}, {"address", 16, 8}, {"file size", 32, 8}, {"memory size", 40, 8}}

var elfHeaderFields = []sampleField{{"class", 4, 1}, {"byte order", 5, 1}, {"type", 16, 2}, {"machine", 18, 2}, {"program headers' offset", 32, 8}, {"section headers' offset", 40, 8}, {"program header size", 54, 2},
	{"program headers", 56, 2}, {"section header size", 58, 2}, {"section headers", 60, 2}, {"section of names", 62, 2}}

func parseELF(data []byte) *elfFile {
	if len(data) < 64 || string(data[:6]) != "\x7fELF\x02\x01" {
		return nil
	}
	f := &elfFile{data: data, shoff: int(le.Uint64(data[40:]))}
	n, names := int(le.Uint16(data[60:])), int(le.Uint16(data[62:]))
	for i := range n {
		h := f.shoff + 64*i
		f.sections = append(f.sections, elfSection{header: h, off: int(le.Uint64(data[h+24:])), size: int(le.Uint64(data[h+32:])), typ: int(le.Uint32(data[h+4:])),
			addr: int(le.Uint64(data[h+16:])), entry: int(le.Uint64(data[h+56:])), link: int(le.Uint32(data[h+40:]))})
	}
	if names >= n {
		return f
	}
	for i := range f.sections {
		name := data[f.sections[names].off+int(le.Uint32(data[f.sections[i].header:])):]
		f.sections[i].name = string(name[:bytes.IndexByte(name, 0)])
	}
	return f
}

// of returns the sections that have one of the names, and content.
func (f *elfFile) of(names ...string) (list []elfSection) {
	for _, s := range f.sections {
		for _, n := range names {
			if s.name == n && s.size > 0 && s.typ != 8 {
				list = append(list, s)
			}
		}
	}
	return list
}

// content returns the bytes of a section.
func (f *elfFile) content(s elfSection) []byte { return f.data[s.off : s.off+s.size] }

// move appends new content of a section to the file, and makes the section header refer to it.
func (f *elfFile) move(s elfSection, content []byte) {
	le.PutUint64(f.data[s.header+24:], uint64(len(f.data)))
	le.PutUint64(f.data[s.header+32:], uint64(len(content)))
	f.data = append(f.data, content...)
}

// putField sets a field of 1, 2, 4 or 8 bytes.
func putField(data []byte, x sampleField, v uint64) {
	for i := range x.len {
		data[x.off+i] = byte(v >> (8 * i))
	}
}
