package elf

import (
	debugelf "debug/elf"
	"iter"
	"slices"
)

// Symbol is an entry of a symbol table.
type Symbol struct {
	Name        uint32 // offset in the table of names
	Type        debugelf.SymType
	Binding     debugelf.SymBind
	Section     debugelf.SectionIndex
	Value, Size uint64
}

// SymbolTable is the content of a symbol table and of its string table.
type SymbolTable struct{ Symbols, Names []byte }

// SymbolTables iterates over the symbol tables of the given types that have a table of names. With
// an error, the symbols or their names could not be read, and are missing from the table.
func (f *File) SymbolTables(types ...debugelf.SectionType) iter.Seq2[SymbolTable, error] {
	return func(yield func(SymbolTable, error) bool) {
		for i := range f.Sections {
			s := &f.Sections[i]
			names := f.ByIndex(int(s.Link))
			if names == nil || !slices.Contains(types, s.Type) {
				continue
			}
			var t SymbolTable
			var err error
			if t.Symbols, err = f.Data(s); err == nil {
				t.Names, err = f.Data(names)
			}
			if !yield(t, err) {
				return
			}
		}
	}
}

// Symbols iterates over the entries of a symbol table. It ignores an incomplete one at the end.
func (f *File) Symbols(table []byte) iter.Seq[Symbol] {
	return func(yield func(Symbol) bool) {
		u, size := f.Order, f.symbolSize()
		for b := table; len(b) >= size; b = b[size:] {
			s := Symbol{Name: u.Uint32(b)}
			var info byte
			if f.Class == debugelf.ELFCLASS32 {
				s.Value, s.Size = uint64(u.Uint32(b[4:])), uint64(u.Uint32(b[8:]))
				info, s.Section = b[12], debugelf.SectionIndex(u.Uint16(b[14:]))
			} else {
				info, s.Section = b[4], debugelf.SectionIndex(u.Uint16(b[6:]))
				s.Value, s.Size = u.Uint64(b[8:]), u.Uint64(b[16:])
			}
			s.Type, s.Binding = debugelf.ST_TYPE(info), debugelf.ST_BIND(info)
			if !yield(s) {
				return
			}
		}
	}
}

// symbolSize returns the size of a symbol table's entries, in bytes.
func (f *File) symbolSize() int {
	if f.Class == debugelf.ELFCLASS32 {
		return debugelf.Sym32Size
	}
	return debugelf.Sym64Size
}
