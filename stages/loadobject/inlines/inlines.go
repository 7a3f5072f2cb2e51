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
	sites     []callSite
	inlined   []inlinedCode
	chained   []symtab.Row // with the calls
	spans     []dwarf.Span // of the subroutine that is read
	Full      bool         // calls were refused

	sections int32 // how many are known
	units    []unitOf
	// directories are those in which the units with no code of their own were compiled, by the
	// units' paths.
	directories map[string]string
	entries     []entry
	parameters  []parameters
	texts       []string
	textNos     map[string]textNo
	pending     []pendingEntry
	symbols     map[entryNo]int // indexes into the table's functions of those with code of their own
	bodies      map[int]entryNo // that hold the regions of bodies, by the bodies' indexes
	starts      map[int]entryNo // that have the lines of the table's functions, by index
	readable    symtab.Names
	parts       int  // that the name being spelled may still have
	bare        bool // it has no empty list of parameters
}

// New returns a reader that adds calls to a table whose lines come from l.
func New(d *dwarf.Info, l *lines.Reader, t *symtab.Draft) *Reader {
	return &Reader{
		info: d, lines: l, table: t, addresses: l.Addresses,
		entries: []entry{{file: -1, unit: -1}}, parameters: make([]parameters, 1), texts: []string{""}, textNos: map[string]textNo{"": 0},
		symbols: map[entryNo]int{}, bodies: map[int]entryNo{}, directories: map[string]string{}, starts: map[int]entryNo{}, readable: symtab.NewNames(),
	}
}

// Unit adds a unit's inlined calls and, of those in the functions that have code
// of their own, the places to which the code is charged (S10). The code's ranges
// may be in other sections than the unit. What was read before an error is used.
func (r *Reader) Unit(u *dwarf.Unit, s, ranges *dwarf.Sections, p *lines.Program, m symtab.Module) error {
	if p == nil {
		return nil
	}
	x := r.enter(u, s, ranges, p, m)
	var levels []int32 // by number of the subroutine, its call, or else the call around it; -1 for none
	err := walkInlined(s, u, func(in inlined) {
		around := int32(-1)
		if in.parent >= 0 {
			around = levels[in.parent]
		}
		levels = append(levels, around)
		if in.depth > maxLevels || r.isBody(x, in.origin) {
			return
		}
		c := symtab.Call{Function: int32(deeper), File: -1, Around: around}
		if in.depth < maxLevels {
			n := r.refer(x, in.origin)
			r.scope(x, n)
			c.Function = int32(n)
		}
		if in.line > 0 && in.line <= math.MaxInt32 {
			if c.File = r.lines.FileIndex(p, in.file); c.File >= 0 {
				c.Line, c.Discriminator = int32(in.line), int32(min(in.discriminator, math.MaxInt32))
			}
		}
		r.spans = ranges.Spans(r.spans[:0], u, in.code)
		for _, x := range r.spans {
			if around < 0 { // without a line, if it is unknown where the call is
				r.call(x, symtab.Row{File: c.File, Line: c.Line, Discriminator: c.Discriminator})
			}
		}
		levels[in.number] = r.inline(c, r.spans)
	}, func(of subprogram) bool { return r.own(x, of) }, func(off uint64) { x.outer = append(x.outer, off) })
	r.resolve(x)
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
