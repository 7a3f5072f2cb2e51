package debuginfo

import (
	"fmt"
	"math"
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

// calls adds the places to which a unit's inlined code is charged: the calls in
// the functions that have code of their own (S10). The code's ranges may be in
// other sections than the unit. What was read before an error is used.
func (a *adder) calls(u *unit, s, ranges *sections, p *program) error {
	if p == nil {
		return nil
	}
	var bodies map[int]bool
	err := s.inlines(u, func(in inlined) {
		if in.depth > 0 && !bodies[in.parent] {
			return
		}
		if s.isBody(u, in.origin) {
			if bodies == nil {
				bodies = map[int]bool{}
			}
			bodies[in.number] = true
			return
		}
		if in.line == 0 || in.line > math.MaxInt32 {
			return
		}
		file := a.number(p, in.file)
		if file < 0 {
			return
		}
		a.spans = ranges.spans(a.spans[:0], u, in.code)
		for _, x := range a.spans {
			a.lines.call(x, file, int32(in.line))
		}
	})
	if err != nil {
		return fmt.Errorf("inlined subroutines: %w", err)
	}
	return nil
}
