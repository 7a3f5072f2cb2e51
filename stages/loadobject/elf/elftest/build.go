// Package elftest builds small ELF objects for tests, of any class and byte order, intact or
// broken.
package elftest

import (
	"bytes"
	"cmp"
	debugelf "debug/elf"
	"encoding/binary"
)

// File is an ELF object to be built.
type File struct {
	Class    debugelf.Class   // default: 64 bit
	Order    binary.ByteOrder // default: little-endian
	Type     debugelf.Type    // default: shared object
	Machine  debugelf.Machine // default: x86-64
	Sections []Section
	Loads    []Load
}

// Section is a section. Bytes chooses its offset if that is not set.
type Section struct {
	Name    string
	Type    debugelf.SectionType // default: SHT_PROGBITS
	Flags   debugelf.SectionFlag
	Address uint64
	Offset  uint64
	Data    []byte
	Size    uint64 // default: the length of Data
	Link    string
}

// Load is a program header; by default PT_LOAD.
type Load struct {
	Type                               debugelf.ProgType
	Flags                              debugelf.ProgFlag
	Offset, Address, FileSize, MemSize uint64
}

// Symbol is an entry of a symbol table.
type Symbol struct {
	Name    string
	Type    debugelf.SymType
	Section uint16
	Value   uint64
	Size    uint64
}

// Text returns an executable section of zeros.
func Text(name string, address, offset, size uint64) Section {
	return Section{Name: name, Flags: debugelf.SHF_ALLOC | debugelf.SHF_EXECINSTR, Address: address, Offset: offset, Data: make([]byte, size)}
}

// Symtab returns a symbol table section and its string table with these names, in the class and
// byte order of the file.
func (f File) Symtab(name, strings string, kind debugelf.SectionType, list []Symbol) []Section {
	f = f.defaults()
	str := []byte{0}
	w := &writer{order: f.Order, wide: f.Class == debugelf.ELFCLASS64}
	w.symbol(0, Symbol{})
	for _, s := range list {
		w.symbol(uint32(len(str)), s)
		str = append(append(str, s.Name...), 0)
	}
	return []Section{
		{Name: name, Type: kind, Data: w.b, Link: strings},
		{Name: strings, Type: debugelf.SHT_STRTAB, Data: str},
	}
}

func (f File) defaults() File {
	f.Class, f.Type = cmp.Or(f.Class, debugelf.ELFCLASS64), cmp.Or(f.Type, debugelf.ET_DYN)
	f.Machine, f.Order = cmp.Or(f.Machine, debugelf.EM_X86_64), cmp.Or[binary.ByteOrder](f.Order, binary.LittleEndian)
	return f
}

// Bytes returns the object's bytes.
func (f File) Bytes() []byte {
	f = f.defaults()
	w := &writer{order: f.Order, wide: f.Class == debugelf.ELFCLASS64}
	head, load, section := 52, 32, 40
	if w.wide {
		head, load, section = 64, 56, 64
	}
	names := []byte{0}
	nameOf := map[string]uint32{}
	index := map[string]uint32{}
	sections := append(append([]Section{{Type: debugelf.SHT_NULL}}, f.Sections...), Section{Name: ".shstrtab", Type: debugelf.SHT_STRTAB})
	for i := range sections {
		s := &sections[i]
		index[s.Name], nameOf[s.Name] = uint32(i), uint32(len(names))
		names = append(append(names, s.Name...), 0)
		if s.Type == 0 && i > 0 {
			s.Type = debugelf.SHT_PROGBITS
		}
	}
	sections[len(sections)-1].Data = names

	w.b = make([]byte, head+load*len(f.Loads))
	for i := range sections[1:] {
		s := &sections[i+1]
		s.Size, s.Offset = cmp.Or(s.Size, uint64(len(s.Data))), cmp.Or(s.Offset, uint64(len(w.b)+7)&^7)
		if s.Type == debugelf.SHT_NOBITS {
			continue
		}
		if end := s.Offset + uint64(len(s.Data)); end > uint64(len(w.b)) {
			w.b = append(w.b, make([]byte, end-uint64(len(w.b)))...)
		}
		copy(w.b[s.Offset:], s.Data)
	}
	shoff := len(w.b)
	for _, s := range sections {
		w.section(nameOf[s.Name], index[s.Link], s)
	}
	copy(w.b, f.header(w, head, load, section, shoff, len(sections)))
	l := &writer{order: f.Order, wide: w.wide}
	for _, x := range f.Loads {
		l.load(x)
	}
	copy(w.b[head:], l.b)
	return w.b
}

func (f File) header(like *writer, head, load, section, shoff, sections int) []byte {
	w := &writer{order: like.order, wide: like.wide}
	data := byte(debugelf.ELFDATA2LSB)
	if f.Order == binary.ByteOrder(binary.BigEndian) {
		data = byte(debugelf.ELFDATA2MSB)
	}
	w.b = append([]byte(debugelf.ELFMAG), byte(f.Class), data, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	w.put(f.Type, f.Machine, uint32(1), uint64(0), uint64(head), uint64(shoff), uint32(0))
	for _, n := range []int{head, load, len(f.Loads), section, sections, sections - 1} {
		w.put(uint16(n))
	}
	return w.b
}

// writer writes numbers in the byte order and the class of a file.
type writer struct {
	b     []byte
	order binary.ByteOrder
	wide  bool
}

// put writes numbers in their types' sizes, but a uint64 in the size of an address.
func (w *writer) put(list ...any) {
	for _, v := range list {
		if n, ok := v.(uint64); ok && !w.wide {
			v = uint32(n)
		}
		var err error
		if w.b, err = binary.Append(w.b, w.order, v); err != nil {
			panic(err) // the number has no fixed size
		}
	}
}

func (w *writer) symbol(name uint32, s Symbol) {
	info := []any{byte(s.Type), byte(0), s.Section}
	if w.put(name); w.wide {
		w.put(append(info, s.Value, s.Size)...)
	} else {
		w.put(append([]any{s.Value, s.Size}, info...)...)
	}
}

func (w *writer) section(name, link uint32, s Section) {
	w.put(name, s.Type, uint64(s.Flags), s.Address, s.Offset, s.Size, link, uint32(0), uint64(0), uint64(0))
}

func (w *writer) load(l Load) {
	addresses := []any{l.Offset, l.Address, l.Address, l.FileSize, l.MemSize}
	if w.put(uint32(cmp.Or(l.Type, debugelf.PT_LOAD))); w.wide {
		w.put(append([]any{l.Flags}, addresses...)...)
	} else {
		w.put(append(addresses, l.Flags)...)
	}
	w.put(uint64(0))
}

// BuildID returns a note section with a build-id.
func (f File) BuildID(id []byte) Section {
	f = f.defaults()
	w := &writer{order: f.Order}
	w.put(uint32(4), uint32(len(id)), uint32(3))
	w.b = append(append(w.b, "GNU\x00"...), id...)
	return Section{Name: ".note.gnu.build-id", Type: debugelf.SHT_NOTE, Flags: debugelf.SHF_ALLOC, Data: w.b}
}

// DebugLink returns a section with a debug file's name and CRC.
func (f File) DebugLink(name string, crc uint32) Section {
	f = f.defaults()
	w := &writer{order: f.Order}
	w.b = append(w.b, name...)
	w.b = append(w.b, bytes.Repeat([]byte{0}, 4-len(name)%4)...)
	w.put(crc)
	return Section{Name: ".gnu_debuglink", Data: w.b}
}

// Dynamic returns the content of a dynamic segment from alternating tags and values.
func (f File) Dynamic(entries ...uint64) []byte {
	f = f.defaults()
	w := &writer{order: f.Order, wide: f.Class == debugelf.ELFCLASS64}
	for _, v := range append(entries, 0, 0) {
		w.put(v)
	}
	return w.b
}
