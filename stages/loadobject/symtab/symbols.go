package symtab

import (
	debugelf "debug/elf"
	"errors"
	"strings"

	"stackmill/stages/loadobject/elf"
)

// symbol is a function symbol inside an executable region.
type symbol struct {
	name         string
	offset, size uint64
	order        int    // position in the tables
	version      string // the version cut off the name
	binding      debugelf.SymBind
	indirect     bool   // STT_GNU_IFUNC
	embedded     bool   // it comes from .gnu_debugdata
	untyped      bool   // STT_NOTYPE
	reach        uint64 // bound of the function's size if the symbol has none, 0 if unknown
}

// reader collects the function symbols of one load object.
type reader struct {
	table     *Draft
	object    *elf.File
	debug     *elf.File
	addresses Addresses
	byName    map[string]Region // regions of a relocatable object's sections
	golang    bool
	exported  bool // only exported functions have symbols
	// bytes is how many bytes of names may still be read. String tables share suffixes, but in a
	// hostile file, each symbol could have the whole table as its name.
	bytes int
	// code is how many bytes of code may still be decoded to tell labels from functions: for many
	// labels, the same code could be decoded again and again.
	code int
}

// symbols returns the function symbols of the first of these that has any: .symtab of the debug
// file; .symtab of the object; the dynamic symbols together with .gnu_debugdata and the Go
// runtime's table of functions (gprofng-experiment 6.2; the manual's S3 adds the separate files).
// If the section headers are missing, it finds the dynamic symbols by the dynamic segment.
func (r *reader) symbols() []symbol {
	if r.debug != nil {
		if list := r.tables(r.debug, debugelf.SHT_SYMTAB); len(list) > 0 {
			return list
		}
	}
	if list := r.tables(r.object, debugelf.SHT_SYMTAB); len(list) > 0 {
		return list
	}
	list := r.tables(r.object, debugelf.SHT_DYNSYM, sunLDynSym)
	if !r.object.Has(debugelf.SHT_DYNSYM) {
		data, names, err := r.object.DynamicSymbols()
		r.note(r.object, err)
		list = r.entries(list, r.object, data, names)
	}
	e, err := r.object.MiniDebugInfo()
	r.note(r.object, err)
	if e != nil {
		r.table.Notes = append(r.table.Notes, e.Notes...)
		for _, s := range r.tables(e, debugelf.SHT_SYMTAB) {
			s.order, s.embedded = len(list), true
			list = append(list, s)
		}
	}
	functions := r.goFunctions()
	r.exported = e == nil && len(functions) == 0
	return append(list, functions...)
}

// sunLDynSym is SHT_SUNW_LDYNSYM: the local function symbols of stripped objects on
// Solaris.
const sunLDynSym debugelf.SectionType = 0x6ffffff3

// note adds a note about err, which concerns one of the object's files. It ignores a nil err.
func (r *reader) note(f *elf.File, err error) {
	if err == nil {
		return
	}
	n := elf.NoteOf(err)
	switch f {
	case r.object:
	case r.debug:
		n = inDebug(n, f)
	default:
		n = n.In("section .gnu_debugdata", int64(r.object.Section(".gnu_debugdata").Offset))
	}
	r.table.Notes = append(r.table.Notes, n)
}

func (r *reader) tables(f *elf.File, types ...debugelf.SectionType) []symbol {
	var list []symbol
	for t, err := range f.SymbolTables(types...) {
		r.note(f, err)
		list = r.entries(list, f, t.Symbols, t.Names)
	}
	return list
}

var errNames = &elf.DamageError{Offset: -1, Err: errors.New("the symbol names are too long for a file of this size: the rest are left out")}

// entries appends the function symbols of one table.
func (r *reader) entries(list []symbol, f *elf.File, data, names []byte) []symbol {
	for s := range f.Symbols(data) {
		// The code of an indirect function is its resolver, which counts as a function, too.
		t := s.Type
		if t != debugelf.STT_FUNC && t != debugelf.STT_GNU_IFUNC && t != debugelf.STT_NOTYPE {
			continue
		}
		if s.Section == debugelf.SHN_UNDEF || s.Section >= debugelf.SHN_LORESERVE && s.Section != debugelf.SHN_XINDEX {
			continue
		}
		off, ok := r.offset(f, s.Value, s.Section)
		if !ok || s.Size == 0 && !isInSection(f, s.Value, s.Section) {
			continue
		}
		full := elf.StringAt(names, uint64(s.Name))
		name := trimVersion(full)
		if r.bytes -= len(name); r.bytes < 0 {
			r.note(f, errNames)
			return list
		}
		if untyped := t == debugelf.STT_NOTYPE; name != "" && !(untyped && markers().MatchString(full)) && !(r.golang && isGoMarker(name)) {
			list = append(list, symbol{
				name: name, offset: off, size: s.Size, order: len(list), version: full[len(name):],
				binding: s.Binding, indirect: t == debugelf.STT_GNU_IFUNC, untyped: untyped,
			})
		}
	}
	return list
}

// offset converts a symbol's value to an offset in the object's file. It uses the object's regions:
// a debug file's sections have no bytes, and therefore no meaningful offsets.
func (r *reader) offset(f *elf.File, value uint64, section debugelf.SectionIndex) (uint64, bool) {
	switch f.Machine {
	case debugelf.EM_ARM, debugelf.EM_MIPS: // the low bit selects the instruction set
		value &^= 1
	}
	if f.Type == debugelf.ET_REL {
		s := f.ByIndex(int(section))
		if s == nil {
			return 0, false
		}
		g := r.byName[s.Name]
		return g.Offset + value, value < g.Size
	}
	return r.addresses.Offset(value)
}

// trimVersion cuts off the version that the linker appends to names in .symtab
// (`memcpy@@GLIBC_2.14`), because stripped objects lack it.
func trimVersion(name string) string {
	at := strings.IndexByte(name, '@')
	if at <= 0 {
		return name
	}
	version := strings.TrimPrefix(name[at+1:], "@")
	for _, c := range version {
		if !(c == '_' || c == '.' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z') {
			return name
		}
	}
	if version == "" {
		return name
	}
	return name[:at]
}
