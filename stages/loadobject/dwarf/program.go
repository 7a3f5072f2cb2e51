package dwarf

import "stackmill/stages/loadobject/symtab"

// lineReader runs the line number programs of an object.
type lineReader struct {
	lines
	info     *info
	table    *symtab.Table       // takes the files and lines
	programs map[uint64]*program // by offset
	files    map[string]int32    // in the table
}

func newLineReader(d *info, t *symtab.Table) *lineReader {
	return &lineReader{lines: lines{addresses: t.Addresses()}, info: d, table: t, programs: map[uint64]*program{}, files: map[string]int32{}}
}

// program is a line number program that has run.
type program struct {
	header *lineHeader
	files  map[uint64]int32 // indexes of files in the table, by their number here
}

// program runs the unit's line number program unless another unit has: those
// that dwz splits share one. The result is nil if there is none; code is what
// the program covers, for the unit that runs it.
func (l *lineReader) program(u *unit) (p *program, code []span) {
	s := l.info.sections
	v, ok := u.attrs[attrStmtList]
	if !ok || s.line == nil {
		return nil, nil
	}
	off := v.u
	if p, ok := l.programs[off]; ok {
		return p, nil
	}
	h, err := readHeader(s, off, u)
	if err == nil {
		p = &program{h, map[uint64]int32{}}
		l.start()
		err = h.run(func(r row) bool { return l.add(r, l.number(p, r.file)) })
		code = l.stop()
	}
	l.programs[off] = p
	if err != nil {
		l.info.damagedf(".debug_line", off, "the line numbers at offset %d of .debug_line, of the unit at offset %d of .debug_info: %v", off, u.offset, err)
	}
	return p, code
}

// firstFile returns the path of the program's first file, empty for none.
func (p *program) firstFile() string {
	if p == nil {
		return ""
	}
	return p.header.path(1)
}

// number returns the index in the table of a file of the program, -1 for none.
func (l *lineReader) number(p *program, file uint64) int32 {
	n, ok := p.files[file]
	if !ok {
		n = l.file(p.header.path(file))
		p.files[file] = n
	}
	return n
}

// file returns the index of a source file in the table, -1 for none.
func (l *lineReader) file(name string) int32 {
	if i, ok := l.files[name]; ok {
		return i
	}
	if !l.info.room(len(name)) || name == "" {
		return -1
	}
	i := int32(len(l.table.Files))
	l.table.Files = append(l.table.Files, valid(name))
	l.files[name] = i
	return i
}

// store puts rows, in order, into the table.
func (l *lineReader) store(rows []lineRow) {
	t := &l.table.Lines
	if len(rows) == 0 {
		return
	}
	t.Offsets, t.File, t.Line = make([]uint64, len(rows)), make([]int32, len(rows)), make([]int32, len(rows))
	for i, r := range rows {
		t.Offsets[i], t.File[i], t.Line[i] = r.offset, r.file, r.line
	}
}
