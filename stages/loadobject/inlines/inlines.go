// Package inlines reads from debug information which functions were inlined where, and
// adds the chains of calls and the lines of call sites to a load object's table.
package inlines

import (
	"fmt"
	"math"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/lines"
	"stackmill/stages/loadobject/symtab"
)

// Reader collects the inlined calls of an object.
type Reader struct {
	info      *dwarf.Info
	lines     *lines.Reader
	table     *symtab.Draft // takes the calls
	addresses symtab.Addresses
	names     names
	sites     []callSite
	inlined   []inlinedCode
	chained   []symtab.Row // with the calls
	spans     []dwarf.Span // of the subroutine that is read
	Full      bool         // calls were refused
}

// New returns a reader that adds calls to a table whose lines come from l.
func New(d *dwarf.Info, l *lines.Reader, t *symtab.Draft) *Reader {
	return &Reader{info: d, lines: l, table: t, addresses: l.Addresses, names: newNames()}
}

// known is what the reader knows about the entries in some sections.
type known struct {
	functions map[uint64]originNo // that were inlined, by offset
	symbols   map[uint64]int      // indexes into the table's functions of those with code of their own, by offset
	bodies    *bool               // whether a function may be the body of a parallel region, nil if not looked up yet
}

func knownOf(s *dwarf.Sections) *known {
	k, ok := s.Known.(*known)
	if !ok {
		k = &known{functions: map[uint64]originNo{}, symbols: map[uint64]int{}}
		s.Known = k
	}
	return k
}

// Unit adds a unit's inlined calls and, of those in the functions that have code
// of their own, the places to which the code is charged (S10). The code's ranges
// may be in other sections than the unit. What was read before an error is used.
func (r *Reader) Unit(u *dwarf.Unit, s, ranges *dwarf.Sections, p *lines.Program) error {
	if p == nil {
		return nil
	}
	var levels []int32 // by number of the subroutine, its call, or else the call around it; -1 for none
	err := walkInlined(s, u, func(in inlined) {
		around := int32(-1)
		if in.parent >= 0 {
			around = levels[in.parent]
		}
		levels = append(levels, around)
		if in.depth >= maxLevels || isBody(s, u, in.origin) {
			return
		}
		c := symtab.Call{Name: int32(r.origin(s, u, in.origin)), File: -1, Around: around}
		if in.line > 0 && in.line <= math.MaxInt32 {
			if c.File = r.lines.Number(p, in.file); c.File >= 0 {
				c.Line, c.Discriminator = int32(in.line), int32(min(in.discriminator, math.MaxInt32))
			}
		}
		r.spans = ranges.Spans(r.spans[:0], u, in.code)
		for _, x := range r.spans {
			if around < 0 && c.File >= 0 {
				r.call(x, symtab.Row{File: c.File, Line: c.Line, Discriminator: c.Discriminator})
			}
		}
		levels[in.number] = r.inline(c, r.spans)
	}, func(of subprogram) {
		r.spans = ranges.Spans(r.spans[:0], u, of.code)
		r.own(s, u, of, r.spans)
	})
	if err != nil {
		return fmt.Errorf("inlined subroutines: %w", err)
	}
	return nil
}

// offsets converts the addresses of code to offsets in the file; false for code
// outside every executable region, which the linker removed.
func (r *Reader) offsets(code dwarf.Span) (low, high uint64, ok bool) {
	in, ok := r.addresses.Region(code.Low)
	if !ok || code.High <= code.Low {
		return 0, 0, false
	}
	return in.Offset + (code.Low - in.Address), in.Offset + min(code.High-in.Address, in.Size), true
}

// Over adds the chains of calls to the table. From the rows with the instructions' own
// lines it returns those with the lines of call sites.
func (r *Reader) Over(rows []symtab.Row) []symtab.Row {
	r.chains(rows)
	rows = overlay(rows, r.sites)
	r.sites = nil
	return rows
}

// Rename gives an inlined function, by the offset of its entry, another name, unless it
// has a linkage name.
func (r *Reader) Rename(s *dwarf.Sections, entry uint64, name string) {
	n, ok := knownOf(s).functions[entry]
	if ok && name != "" && !r.names.list[r.names.origins[n]].linkage {
		r.names.origins[n] = r.name(functionName{text: name})
	}
}
