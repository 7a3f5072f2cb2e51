// Package elf reads the ELF container: headers, sections (also compressed ones), symbols, the
// dynamic segment, the build-id and the links to separate debug files. It works on mapped bytes and
// trusts no length.
//
// It takes constants and header structures from the standard library's debug/elf, but does not read
// files with it. debug/elf rejects damaged files: it returns no symbols for any of 1,000 truncated
// copies of libc.so.6, where this package reads whatever is left. It copies what it reads (11 MB
// for the symbols of libLLVM-14, 7 KB here), and does not bound decompressed sections.
//
// Start reading with Open; debugfile.go finds separate debug files.
package elf

import (
	debugelf "debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"stackmill/internal/hosterr"
	"stackmill/internal/safefile"
	"stackmill/stages/loadobject/isa"
)

// ErrNotELF says that a file is not a readable ELF object.
var ErrNotELF = errors.New("not an ELF object")

// File is an ELF object. It is safe for concurrent use until it is closed.
type File struct {
	Path          string
	Class         debugelf.Class
	Order         binary.ByteOrder
	Type          debugelf.Type
	Machine       debugelf.Machine
	Entry         uint64    // entry point of a process, 0 for none
	Sections      []Section // without the null section; Index is the number in the file
	Loads         []Segment
	EHFrameHeader Segment // PT_GNU_EH_FRAME, the search table of `.eh_frame`
	TLS           Segment // PT_TLS, the initial values of thread-local variables
	TLSAlign      uint64
	Packed        bool           // the file is compressed: offsets are in the decompressed content
	Stamp         safefile.Stamp // zero for an object in memory
	HostErr       error          // the first host error while looking for related files
	UsedDWO       bool           // `.dwo` files were read, found by way of the object's folders
	Notes         []Note         // headers that could not be read
	Search        SearchPaths    // set by whoever opens the file, optional

	data           []byte
	mapped         bool
	noteSegments   [][]byte     // contents of PT_NOTE
	dynamicSegment Segment      // PT_DYNAMIC
	inflated       atomic.Int64 // total size of decompressed sections, bytes
}

// Section is a section header.
type Section struct {
	Index   int
	Name    string
	Type    debugelf.SectionType
	Flags   debugelf.SectionFlag
	Address uint64
	Offset  uint64 // in the file
	Size    uint64 // bytes in the file
	Link    uint32
}

// Segment is a program header.
type Segment struct {
	Offset, Address, FileSize, MemSize uint64
	Flags                              debugelf.ProgFlag
}

// Open maps an ELF object, decompressed if necessary. The error wraps an *os.PathError or ErrNotELF.
func Open(path string) (*File, error) {
	f, st, err := safefile.Open(path, safefile.LoadObject)
	if errors.Is(err, safefile.ErrNotRegular) || errors.Is(err, safefile.ErrTooLarge) {
		return nil, fmt.Errorf("%w: %w", err, ErrNotELF)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st.Size() < debugelf.EI_NIDENT || int64(int(st.Size())) != st.Size() {
		return nil, fmt.Errorf("%s: %d bytes: %w", path, st.Size(), ErrNotELF)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: path, Err: err}
	}
	if content, packed, err := unpack(path, data); packed {
		unix.Munmap(data)
		if err != nil {
			return nil, err
		}
		o, err := New(path, content)
		if err == nil {
			o.Packed, o.Stamp = true, safefile.StampOf(st)
		}
		return o, err
	}
	o, err := New(path, data)
	if err != nil {
		unix.Munmap(data)
		return nil, err
	}
	o.mapped, o.Stamp = true, safefile.StampOf(st)
	return o, nil
}

// noteHostErr keeps err if it is the first host error: such an error says nothing about the file.
func (f *File) noteHostErr(err error) {
	if f.HostErr == nil && err != nil && hosterr.Is(err) {
		f.HostErr = err
	}
}

// OpenRelated opens another file that belongs to the object. A host error is kept in HostErr.
func (f *File) OpenRelated(path string) (*File, error) {
	o, err := Open(path)
	f.noteHostErr(err)
	return o, err
}

// Close unmaps the file. Bytes that Data returned must not be used afterwards.
func (f *File) Close() error {
	data := f.data
	f.data = nil
	if !f.mapped || data == nil {
		return nil
	}
	return unix.Munmap(data)
}

// chunkSize is a multiple of the page size, so that a chunk's pages can be released.
const chunkSize = 16 << 20

// Chunks passes the file's bytes to use in chunks, and releases the memory of each, so that a large
// file is never in memory as a whole.
func (f *File) Chunks(use func(chunk []byte)) {
	for b := f.data; len(b) > 0; {
		chunk := b[:min(len(b), chunkSize)]
		use(chunk)
		if b = b[len(chunk):]; f.mapped && len(f.data) > chunkSize {
			unix.Madvise(chunk, unix.MADV_DONTNEED) // a failure only keeps the memory in use
		}
	}
}

// Bytes returns the whole file.
func (f *File) Bytes() []byte { return f.data }

// New reads the headers of an ELF object in memory. If headers lie outside the data, it omits them
// and adds a note. The error wraps ErrNotELF.
func New(path string, data []byte) (*File, error) {
	bad := func(why string) (*File, error) {
		return nil, fmt.Errorf("%s: %s: %w", path, why, ErrNotELF)
	}
	if len(data) < debugelf.EI_NIDENT || string(data[:4]) != debugelf.ELFMAG {
		return bad("wrong magic number")
	}
	f := &File{Path: path, Class: debugelf.Class(data[debugelf.EI_CLASS]), data: data}
	switch debugelf.Data(data[debugelf.EI_DATA]) {
	case debugelf.ELFDATA2LSB:
		f.Order = binary.LittleEndian
	case debugelf.ELFDATA2MSB:
		f.Order = binary.BigEndian
	default:
		return bad("unknown byte order")
	}
	h, ok := f.readHeader()
	if !ok {
		return bad("unknown class or short header")
	}
	f.readSegments(&h)
	f.readSections(&h)
	return f, nil
}

// Arch returns the instruction set of the object's code, 0 if it is not supported.
func (f *File) Arch() isa.Arch { return isa.Of(f.Machine, f.Class) }

// readHeader reads the file header, converted to the 64-bit structure; false if the class is unknown
// or the file too short.
func (f *File) readHeader() (h debugelf.Header64, ok bool) {
	switch f.Class {
	case debugelf.ELFCLASS64:
		ok = f.decode(f.data, &h)
	case debugelf.ELFCLASS32:
		var n debugelf.Header32
		ok = f.decode(f.data, &n)
		h = debugelf.Header64{Type: n.Type, Machine: n.Machine, Entry: uint64(n.Entry), Phoff: uint64(n.Phoff), Shoff: uint64(n.Shoff),
			Phentsize: n.Phentsize, Phnum: n.Phnum, Shentsize: n.Shentsize, Shnum: n.Shnum, Shstrndx: n.Shstrndx}
	}
	f.Type, f.Machine, f.Entry = debugelf.Type(h.Type), debugelf.Machine(h.Machine), h.Entry
	return h, ok
}

// decode reads one of debug/elf's structures from the start of b; false if b is too short.
func (f *File) decode(b []byte, to any) bool {
	_, err := binary.Decode(b, f.Order, to)
	return err == nil
}

func (f *File) damaged(off uint64, format string, args ...any) {
	f.Notes = append(f.Notes, NoteOf(damaged(off, format, args...)))
}

// entries returns the bytes of each entry of a header table, without entries beyond the end of the
// file. entrySize is from the file header; it must not be less than the size of of32 or of64, the
// structure for the file's class.
func (f *File) entries(what string, off uint64, entrySize uint16, count int, of32, of64 any) [][]byte {
	if count == 0 || off == 0 {
		return nil
	}
	size, least := int(entrySize), binary.Size(of64)
	if f.Class == debugelf.ELFCLASS32 {
		least = binary.Size(of32)
	}
	if size < least || off >= uint64(len(f.data)) {
		f.damaged(off, "%s headers at offset %d lie beyond the end of the file", what, off)
		return nil
	}
	rest := f.data[off:]
	if have := len(rest) / size; have < count {
		f.damaged(off, "%s headers at offset %d: %d of %d lie beyond the end of the file", what, off, count-have, count)
		count = have
	}
	list := make([][]byte, count)
	for i := range list {
		list[i] = rest[i*size:][:size]
	}
	return list
}

func (f *File) readSegments(h *debugelf.Header64) {
	for _, e := range f.entries("program", h.Phoff, h.Phentsize, int(h.Phnum), debugelf.Prog32{}, debugelf.Prog64{}) {
		var p debugelf.Prog64
		if f.Class == debugelf.ELFCLASS32 {
			var n debugelf.Prog32
			f.decode(e, &n)
			p = debugelf.Prog64{Type: n.Type, Flags: n.Flags, Off: uint64(n.Off), Vaddr: uint64(n.Vaddr),
				Filesz: uint64(n.Filesz), Memsz: uint64(n.Memsz), Align: uint64(n.Align)}
		} else {
			f.decode(e, &p)
		}
		s := Segment{p.Off, p.Vaddr, p.Filesz, p.Memsz, debugelf.ProgFlag(p.Flags)}
		switch debugelf.ProgType(p.Type) {
		case debugelf.PT_LOAD:
			f.Loads = append(f.Loads, s)
		case debugelf.PT_DYNAMIC:
			f.dynamicSegment = s
		case debugelf.PT_GNU_EH_FRAME:
			f.EHFrameHeader = s
		case debugelf.PT_TLS:
			f.TLS, f.TLSAlign = s, p.Align
		case debugelf.PT_NOTE:
			f.noteSegments = append(f.noteSegments, f.Slice(s.Offset, s.FileSize))
		}
	}
}

func (f *File) readSections(h *debugelf.Header64) {
	table := func(count int) [][]byte {
		return f.entries("section", h.Shoff, h.Shentsize, count, debugelf.Section32{}, debugelf.Section64{})
	}
	first := table(1)
	if len(first) == 0 {
		return
	}
	count, strndx := int(h.Shnum), int(h.Shstrndx)
	null, _ := f.section(0, first[0]) // has the numbers that do not fit into the file header
	if count == 0 {
		count = int(min(null.Size, uint64(len(f.data))))
	}
	if strndx == int(debugelf.SHN_XINDEX) {
		strndx = int(null.Link)
	}
	list := table(count)
	var names []byte
	if strndx > 0 && strndx < len(list) {
		s, _ := f.section(strndx, list[strndx])
		names = f.Slice(s.Offset, s.Size)
	}
	for i := 1; i < len(list); i++ {
		s, name := f.section(i, list[i])
		s.Name = StringAt(names, uint64(name))
		f.Sections = append(f.Sections, s)
	}
}

// section decodes a section header, and returns the offset of its name.
func (f *File) section(i int, e []byte) (s Section, name uint32) {
	var h debugelf.Section64
	if f.Class == debugelf.ELFCLASS32 {
		var n debugelf.Section32
		f.decode(e, &n)
		h = debugelf.Section64{Name: n.Name, Type: n.Type, Flags: uint64(n.Flags), Addr: uint64(n.Addr), Off: uint64(n.Off),
			Size: uint64(n.Size), Link: n.Link}
	} else {
		f.decode(e, &h)
	}
	return Section{Index: i, Type: debugelf.SectionType(h.Type), Flags: debugelf.SectionFlag(h.Flags),
		Address: h.Addr, Offset: h.Off, Size: h.Size, Link: h.Link}, h.Name
}

// Slice returns the file's bytes [off, off+size), nil if the file ends before.
func (f *File) Slice(off, size uint64) []byte {
	n := uint64(len(f.data))
	if off > n || size > n-off {
		return nil
	}
	return f.data[off : off+size]
}
