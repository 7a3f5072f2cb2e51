// Package lines runs the line number programs of a load object (DWARF 5 section 6.2)
// and sorts their rows.
//
// debug/dwarf's LineReader does not suit: debug/dwarf rejects an object for one damaged unit, does
// not read the files that dwz makes, and runs a program again for each unit that shares it. It is
// no faster (both need 50 ms of CPU time for the line numbers of CPython).
package lines

import (
	debugdwarf "debug/dwarf"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/symtab"
)

// Reader runs the line number programs of an object.
type Reader struct {
	rowCollector
	info     *dwarf.Info
	table    *symtab.Draft // gets the files and lines
	programs map[programKey]*Program
	files    map[string]int32 // indexes in the table, by path
}

// New returns a reader that adds files and lines to a table.
func New(d *dwarf.Info, t *symtab.Draft) *Reader {
	return &Reader{rowCollector: rowCollector{Addresses: t.Addresses()}, info: d, table: t, programs: map[programKey]*Program{}, files: map[string]int32{}}
}

// programKey identifies a line number program.
type programKey struct {
	in     *dwarf.Sections
	offset uint64
}

// Program is a line number program, with its files' indexes in the table.
type Program struct {
	header *header
	files  map[uint64]int32 // by file number
}

// Run runs the unit's line number program, unless it ran already: dwz makes units that share a
// program. p is nil if the unit has none. code is the code that the program covers, nil if it ran
// already.
func (l *Reader) Run(u *dwarf.Unit) (p *Program, code []dwarf.Range) {
	s := l.info.Sections
	v := u.Attrs.Get(debugdwarf.AttrStmtList)
	if v.Form == 0 || s.Line == nil {
		return nil, nil
	}
	off := v.Uint
	if p, ok := l.programs[programKey{s, off}]; ok {
		return p, nil
	}
	h, err := readHeader(s, off, u)
	if err == nil {
		p = newProgram(h)
		l.beginProgram()
		err = h.run(func(r registers) bool { return l.addRow(r, l.FileIndex(p, r.file)) })
		code = l.endProgram()
	}
	l.programs[programKey{s, off}] = p
	if err != nil {
		l.info.Damagedf(".debug_line", off, "the line numbers at offset %d of .debug_line, of the unit at offset %d of .debug_info: %v", off, u.Offset, err)
	}
	return p, code
}

func newProgram(h *header) *Program {
	return &Program{header: h, files: map[uint64]int32{}}
}

// Files returns the unit's line number program without running it, for the names of its files. It
// returns nil if the unit has no program, or a damaged one.
func (l *Reader) Files(s *dwarf.Sections, u *dwarf.Unit) *Program {
	v := u.Attrs.Get(debugdwarf.AttrStmtList)
	if v.Form == 0 || s.Line == nil {
		return nil
	}
	at := programKey{s, v.Uint}
	p, ok := l.programs[at]
	if !ok {
		if h, err := readHeader(s, v.Uint, u); err == nil {
			p = newProgram(h)
		}
		l.programs[at] = p
	}
	return p
}

// FirstFile returns the path of the program's first file, empty for none.
func (p *Program) FirstFile() string {
	if p == nil {
		return ""
	}
	return p.header.path(1)
}

// FileIndex returns the table's index of the program's file with the given number, -1 for none.
func (l *Reader) FileIndex(p *Program, file uint64) int32 {
	if p == nil {
		return -1
	}
	n, ok := p.files[file]
	if !ok {
		n = l.internFile(p.header.path(file))
		p.files[file] = n
	}
	return n
}

// internFile returns the table's index of a source file, and adds the file if it is new; -1 if it
// has no name or there is no room for it.
func (l *Reader) internFile(name string) int32 {
	if i, ok := l.files[name]; ok {
		return i
	}
	if !l.info.Room(len(name)) || name == "" {
		return -1
	}
	i := int32(len(l.table.Files))
	l.table.Files = append(l.table.Files, dwarf.Valid(name))
	l.files[name] = i
	return i
}

// Store puts sorted rows into the table.
func (l *Reader) Store(rows []symtab.Row) { l.table.Lines = symtab.RowsOf(rows) }
