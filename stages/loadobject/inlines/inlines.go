// Package inlines reads inlined subroutines from debug information. It adds inline chains and the
// lines of call sites to a load object's table.
//
// Start reading with Reader.Unit, then walk.go; flatten (chain.go) makes the chains.
package inlines

import (
	debugdwarf "debug/dwarf"
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
	table     *symtab.Draft // the table to which the calls are added
	addresses symtab.Addresses
	sites     []callSite
	inlined   []inlinedCode
	callRows  []symtab.Row  // rows with the innermost calls
	scratch   []dwarf.Range // ranges of the current subroutine
	attrs     dwarf.Attrs   // attributes of the current entry
	Full      bool          // lines.MaxRows was exceeded

	sections    int32 // number of section caches
	units       []readUnit
	directories map[string]string // compilation directories of units without code, by the units' paths
	entries     []entry
	parameters  []parameters
	texts       []string
	textNos     map[string]textNo
	pending     []pendingEntry
	symbols     map[entryNo]int // table indexes of functions with code that is not inlined
	bodies      map[int]entryNo // functions that contain parallel regions, by the table index of the body
	starts      map[int]entryNo // entries that have the lines of functions, by table index
	readable    symtab.Names
	partsLeft   int  // number of parts that the name being spelled may still get
	omitEmpty   bool // omit an empty parameter list in that name
}

// New returns a reader that adds calls to a table whose lines come from l.
func New(d *dwarf.Info, l *lines.Reader, t *symtab.Draft) *Reader {
	return &Reader{
		info: d, lines: l, table: t, addresses: l.Addresses,
		entries: []entry{{file: -1, unit: -1}}, parameters: make([]parameters, 1), texts: []string{""}, textNos: map[string]textNo{"": 0},
		symbols: map[entryNo]int{}, bodies: map[int]entryNo{}, directories: map[string]string{}, starts: map[int]entryNo{}, readable: symtab.NewNames(),
	}
}

// Unit adds a unit's inlined calls, and the call sites whose lines their code gets (S10). ranges
// are the sections with the ranges of the code; for split units they differ from s. After an error,
// what was read before is kept.
func (r *Reader) Unit(u *dwarf.Unit, s, ranges *dwarf.Sections, p *lines.Program, m symtab.Module) error {
	if p == nil {
		return nil
	}
	x := r.enter(u, s, ranges, p, m)
	var calls []int32 // by subroutine: the number of its call, or of the enclosing call, -1 for none
	err := walkInlined(s, u, func(in inlinedSubroutine) {
		around := int32(-1)
		if in.parent >= 0 {
			around = calls[in.parent]
		}
		calls = append(calls, around)
		origin := in.Get(debugdwarf.AttrAbstractOrigin)
		if in.depth > maxLevels || r.isBody(x, origin) {
			return
		}
		c := symtab.Call{Function: int32(deeper), File: -1, Around: around}
		if in.depth < maxLevels {
			n := r.refer(x, origin)
			r.requestScope(x, n)
			c.Function = int32(n)
		}
		if line := number32(in.Get(debugdwarf.AttrCallLine)); line > 0 {
			if c.File = r.lines.FileIndex(p, in.Get(debugdwarf.AttrCallFile).Uint); c.File >= 0 {
				c.Line, c.Discriminator = line, int32(min(in.Get(dwarf.AttrGNUDiscriminator).Uint, math.MaxInt32))
			}
		}
		r.scratch = ranges.Ranges(r.scratch[:0], u, in.Attrs)
		for _, x := range r.scratch {
			if around < 0 { // has no line if the call's is unknown
				r.addCallSite(x, symtab.Row{File: c.File, Line: c.Line, Discriminator: c.Discriminator})
			}
		}
		calls[in.number] = r.addCall(c, r.scratch)
	}, func(of subprogram) bool { return r.addOwnCode(x, of) }, func(off uint64) { x.outer = append(x.outer, off) })
	r.resolve(x)
	if err != nil {
		return fmt.Errorf("inlined subroutines: %w", err)
	}
	return nil
}

// offsets converts a range of addresses to offsets in the file. It returns false for addresses
// outside of the executable regions, such as those of code that the linker removed.
func (r *Reader) offsets(code dwarf.Range) (low, high uint64, ok bool) {
	in, ok := r.addresses.Region(code.Low)
	if !ok || code.High <= code.Low {
		return 0, 0, false
	}
	return in.Offset + (code.Low - in.Address), in.Offset + min(code.High-in.Address, in.Size), true
}

// Overlay adds the inline chains to the table. rows have the instructions' own lines. In the
// returned rows, inlined code has the lines of call sites instead.
func (r *Reader) Overlay(rows []symtab.Row) []symtab.Row {
	r.storeCalls(rows)
	rows = overlay(rows, r.sites)
	r.sites = nil
	return rows
}
