package symtab

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackmill/internal/bytereader"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/funcinfo"
)

// Studio 12.3 archives an object's symbols instead of the object (studio-experiment 6), as
// packets of `u16 type, u16 size` and little-endian numbers.
const (
	archiveHeader  = 4
	archiveVersion = 0x100

	archiveSegment  = 0x100
	archiveMessage  = 0x200
	archiveModule   = 0x400
	archiveFunction = 0x500
	archiveText     = 0xd00

	archivePage = 4096 // the code's end is rounded up to a multiple of this
)

// The position of the recorded inode in an archived table. Tables of one object that were recorded
// on several hosts differ there.
const (
	ArchiveInode    = 8
	ArchiveInodeEnd = 12
)

// IsArchive reports whether head is the beginning of an archived table of symbols.
func IsArchive(head []byte) bool {
	o := binary.LittleEndian
	return len(head) >= ArchiveInodeEnd && o.Uint16(head) == archiveSegment && o.Uint16(head[2:]) >= 20 && o.Uint32(head[4:]) == archiveVersion
}

// archiveLanguages maps the numbers of languages in archives to their names.
var archiveLanguages = map[uint32]string{
	1: "assembler", 2: "C", 3: "C", 4: "C++", 5: "Fortran", 6: "Pascal", 7: "Fortran", 8: "Java", 9: "C", 16: "C",
	32: "C++", 33: "C++", 34: "C++",
}

// archiveReader reads the packets of an archived table.
type archiveReader struct {
	draft    *Draft
	data     []byte
	text     uint64 // size of the text segment in bytes
	symbols  []symbol
	modules  map[string]int32 // indexes in draft.Modules, by source file
	module   int32            // module of the functions that follow
	moduleOf map[uint64]int32 // index of a function's module, by the function's offset
	plts     []Region
	skipped  map[uint16]int // number of unused packets, by type
}

// ReadArchive reads an archived table of symbols. It has offsets in the load object's file, but
// neither link-time addresses, code nor line information.
func ReadArchive(data []byte) *Draft {
	r := &archiveReader{
		draft: &Draft{Table: Table{Modules: []Module{{Name: Unknown}}}},
		data:  data, modules: map[string]int32{"(unknown)": 0, "": 0}, moduleOf: map[uint64]int32{}, skipped: map[uint16]int{},
	}
	for at := 0; at < len(data); {
		size, why := r.packet(at)
		if why != "" {
			r.draft.Notes = append(r.draft.Notes, Note{Offset: int64(at), Damage: true, Text: "the archived symbol table is damaged: " + why + ": the rest is not read"})
			break
		}
		at += size
	}
	return r.finish()
}

// packet reads the packet at an offset. It returns the packet's size, or why the packet is invalid.
func (r *archiveReader) packet(at int) (size int, why string) {
	o, rest := binary.LittleEndian, r.data[at:]
	if len(rest) < archiveHeader {
		return 0, "it ends inside a packet's header"
	}
	typ, size := o.Uint16(rest), int(o.Uint16(rest[2:]))
	if size < archiveHeader || size%4 != 0 || size > len(rest) {
		return 0, fmt.Sprintf("a packet of type %#x has %d bytes, %d are left", typ, size, len(rest))
	}
	body := bytereader.New(rest[archiveHeader:size], o)
	switch typ {
	case archiveSegment:
		body.Bytes(8)
		text, _ := body.U32(), body.U32()
		if body.Short = body.Short || at != 0; !body.Short {
			r.text = uint64(text)
		}
	case archiveModule:
		r.readModule(&body)
	case archiveFunction:
		if len(r.symbols) == maxListed {
			return 0, "it has " + tooManyNote().Text
		}
		r.readFunction(&body)
	case archiveMessage, archiveText: // the creator, and a remark that there is no debug information
	default:
		r.skipped[typ]++
	}
	if body.Short {
		return 0, fmt.Sprintf("a packet of type %#x has invalid content", typ)
	}
	return size, ""
}

// readModule reads a packet that begins a module. It has the language and the names of the object
// file and the source file.
func (r *archiveReader) readModule(body *bytereader.Reader) {
	language := archiveLanguages[body.U32()]
	body.U32()
	object := body.Text()
	body.Bytes(min(uint64(3-len(object)%4), uint64(len(body.Rest)))) // one to four NULs end a text
	source := strings.ToValidUTF8(string(body.Text()), "\uFFFD")
	if body.Short {
		return
	}
	n, known := r.modules[source]
	if !known {
		n = int32(len(r.draft.Modules))
		r.modules[source] = n
		r.draft.Modules = append(r.draft.Modules, Module{Name: source, Language: language})
	}
	r.module = n
}

// readFunction reads a packet with a symbol of a function.
func (r *archiveReader) readFunction(body *bytereader.Reader) {
	offset, size := uint64(body.U32()), uint64(body.U32())
	body.U32()
	full := strings.ToValidUTF8(string(body.Text()), "\uFFFD")
	switch {
	case body.Short || full == "":
		body.Short = true
		return
	case full == "@plt":
		r.plts = append(r.plts, Region{".plt", offset, offset, size})
		return
	}
	if r.moduleOf[offset] == 0 {
		r.moduleOf[offset] = r.module
	}
	name := trimVersion(full)
	r.symbols = append(r.symbols, symbol{name: name, version: full[len(name):], offset: offset, size: size, order: len(r.symbols)})
}

// finish makes functions of the symbols. The sections are unknown: the file counts as code, up to
// the end of the text or of the last function.
func (r *archiveReader) finish() *Draft {
	d, end := r.draft, r.text
	for _, s := range r.symbols {
		end = max(end, s.offset+s.size)
	}
	for _, p := range r.plts {
		end = max(end, p.Offset+p.Size)
	}
	d.Regions = splitAtPLTs((end+archivePage-1)/archivePage*archivePage, r.plts)
	n := newNamer(false)
	d.Functions = makeFunctions(r.symbols, d.Regions, n)
	for i := range d.Functions {
		if f := &d.Functions[i]; f.Kind != funcinfo.PLT {
			f.Module = r.moduleOf[f.Offset]
		}
	}
	units := map[string]string{} // compilation directories are unknown
	for _, m := range d.Modules[1:] {
		units[m.Name] = ""
	}
	d.Shorten(units, nil)
	for _, typ := range slices.Sorted(maps.Keys(r.skipped)) {
		d.Notes = append(d.Notes, Note{Offset: -1, Reason: elf.UnusedRecord, Text: fmt.Sprintf("%d packets of type %#x of the archived symbol table are not used", r.skipped[typ], typ)})
	}
	d.Notes = append(d.Notes, n.notes()...)
	return d
}

// splitAtPLTs returns the regions of a file whose code ends at offset end: the procedure linkage
// tables and the code between them.
func splitAtPLTs(end uint64, plts []Region) (list []Region) {
	at := uint64(0)
	slices.SortFunc(plts, func(a, b Region) int { return cmp.Compare(a.Offset, b.Offset) })
	for _, p := range plts {
		if p.Offset < at || p.Size == 0 {
			continue
		}
		if p.Offset > at {
			list = append(list, Region{"text", at, at, p.Offset - at})
		}
		list, at = append(list, p), p.Offset+p.Size
	}
	if at < end {
		list = append(list, Region{"text", at, at, end - at})
	}
	return list
}
