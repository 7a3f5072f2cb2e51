package dwarf

import (
	"fmt"
	"math"

	"stackmill/stages/loadobject/symtab"
)

// program is a line number program that has run.
type program struct {
	header *lineHeader
	files  map[uint64]int32 // indexes of files in the table, by their number here
}

// program runs the unit's line number program unless another unit has: those
// that dwz splits share one. The result is nil when there is none; code is what
// the program covers, for the unit that runs it.
func (a *adder) program(u *unit) (p *program, code []span) {
	v, ok := u.attrs[attrStmtList]
	if !ok || a.sections.line == nil {
		return nil, nil
	}
	off := v.u
	if p, ok := a.programs[off]; ok {
		return p, nil
	}
	h, err := a.sections.lineHeader(off, u)
	if err == nil {
		p = &program{h, map[uint64]int32{}}
		a.lines.start()
		err = h.run(func(r row) bool { return a.lines.add(r, a.number(p, r.file)) })
		code = a.lines.stop()
	}
	a.programs[off] = p
	if err != nil {
		a.damagedf(".debug_line", off, "the line numbers at offset %d of .debug_line, of the unit at offset %d of .debug_info: %v", off, u.offset, err)
	}
	return p, code
}

// number returns the index in the table of a file of the program, -1 for none.
func (a *adder) number(p *program, file uint64) int32 {
	n, ok := p.files[file]
	if !ok {
		n = a.file(p.header.path(file))
		p.files[file] = n
	}
	return n
}

// file returns the index of a source file in the table, -1 for none.
func (a *adder) file(name string) int32 {
	if i, ok := a.files[name]; ok {
		return i
	}
	a.text += len(name)
	if name == "" || len(name) > maxPath || a.text > maxText {
		return -1
	}
	i := int32(len(a.table.Files))
	a.table.Files = append(a.table.Files, valid(name))
	a.files[name] = i
	return i
}

// calls adds a unit's inlined calls and, of those in the functions that have code
// of their own, the places to which the code is charged (S10). The code's ranges
// may be in other sections than the unit. What was read before an error is used.
func (a *adder) calls(u *unit, s, ranges *sections, p *program) error {
	if p == nil {
		return nil
	}
	var levels []int32 // by number, the call: that around it for what is none
	err := s.inlines(u, func(in inlined) {
		around := int32(-1)
		if in.parent >= 0 {
			around = levels[in.parent]
		}
		levels = append(levels, around)
		if in.depth >= maxLevels || s.isBody(u, in.origin) {
			return
		}
		c := symtab.Call{Name: a.origin(s, u, in.origin), File: -1, Around: around}
		if in.line > 0 && in.line <= math.MaxInt32 {
			if c.File = a.number(p, in.file); c.File >= 0 {
				c.Line = int32(in.line)
			}
		}
		a.spans = ranges.spans(a.spans[:0], u, in.code)
		for _, x := range a.spans {
			if around < 0 && c.File >= 0 {
				a.lines.call(x, c.File, c.Line)
			}
		}
		levels[in.number] = a.lines.inline(c, a.spans)
	}, func(origin value, code pcs) {
		a.spans = ranges.spans(a.spans[:0], u, code)
		a.own(s, u, origin, a.spans)
	})
	if err != nil {
		return fmt.Errorf("inlined subroutines: %w", err)
	}
	return nil
}
