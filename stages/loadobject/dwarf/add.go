// Package dwarf reads what the DWARF debug information (versions 2 to 5) of a
// load object tells: Add completes its table of functions by modules, source
// files and lines, Data makes the table of its types and variables.
package dwarf

import (
	debugelf "debug/elf"
	"fmt"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/symtab"
)

// Add fills the table's modules, files, lines and inlined calls and its functions'
// modules from the debug information of the separate debug file, if that has any,
// or else of the object itself. What cannot be read is added to the table's notes;
// a bad unit loses itself only. The result are the files whose absence left modules
// or functions without their names.
func Add(t *symtab.Table, f, debug *elf.File) (missing []string) {
	d := newInfo(f, debug)
	switch {
	case !Has(d.source):
		return nil
	case d.source.Type == debugelf.ET_REL:
		d.remarkf("the source lines of a relocatable object cannot be read before it is linked")
	default:
		newAdder(d, t).read()
	}
	t.Notes = append(t.Notes, d.report()...)
	return d.missing()
}

// adder completes a table.
type adder struct {
	info      *info
	table     *symtab.Table
	addresses symtab.Addresses
	lines     *lineReader
	inlines   *inlineReader
	modules   map[symtab.Module]int32
	code      []moduleCode
	spans     []span // of the subroutine that is read

	procedures []procedure // of Fortran, and those of C that are within others
	merged     []mergedCode
	nested     *bool // whether C has any, once that was asked
}

func newAdder(d *info, t *symtab.Table) *adder {
	l := newLineReader(d, t)
	return &adder{info: d, table: t, addresses: l.addresses, lines: l, inlines: newInlineReader(d, l, t), modules: map[symtab.Module]int32{}}
}

// read reads all units and completes the table.
func (a *adder) read() {
	if alternate := a.info.open(); alternate != nil {
		defer alternate.Close()
	}
	defer a.info.close()
	a.info.sections.units(a.unit, func(off uint64, err error) {
		a.info.damagedf(".debug_info", off, "the unit at offset %d of .debug_info cannot be read: %v", off, err)
	})
	if a.lines.full || a.inlines.full {
		a.info.remarkf("more than %d rows of line numbers: the rest is left out", maxRows)
	}
	a.lines.store(a.inlines.over(a.lines.sorted()))
	a.assign()
	a.assignMerged()
	a.nameProcedures()
	a.inlines.nameCalls() // by the names that functions have now
}

// moduleCode says that offsets from low up to high belong to a module.
type moduleCode struct {
	low, high uint64
	module    symtab.Module
}

// unit adds what one compilation unit tells.
func (a *adder) unit(u *unit) {
	p, covered := a.lines.program(u)
	code := a.info.sections.spans(nil, u, u.pcs())
	if len(code) == 0 {
		code = covered
	}
	if len(code) == 0 {
		return
	}
	m := a.whole(u, p)
	if m == a.table.Modules[0] {
		return
	}
	for _, c := range code {
		if off, ok := a.addresses.Offset(c.low); ok {
			a.code = append(a.code, moduleCode{off, off + (c.high - c.low), m})
		}
	}
}

// whole reads what is below a unit's first entry, in its split half if it has
// one, and returns its module.
func (a *adder) whole(u *unit, p *program) symtab.Module {
	s := a.info.sections
	var m *symtab.Module
	split := a.info.half(u, func(names *sections, half *unit) {
		found := a.module(u, half, names, p)
		m = &found
		if err := a.below(half, names, names.join(half, u, s), p); err != nil {
			a.info.fail(nil, &elf.DamageError{Offset: -1, Err: fmt.Errorf("split unit %s: %w", s.dwoName(u), err)})
		}
	})
	if m != nil {
		return *m
	}
	if !split {
		if err := a.below(u, s, s, p); err != nil {
			a.info.damagedf(".debug_info", u.offset, "the unit at offset %d of .debug_info: %v", u.offset, err)
		}
	}
	return a.module(u, u, s, p)
}

// below reads what is below a unit's first entry.
func (a *adder) below(u *unit, s, ranges *sections, p *program) error {
	if err := a.inlines.calls(u, s, ranges, p); err != nil {
		return err
	}
	if err := a.readProcedures(u, s, ranges); err != nil {
		return err
	}
	return a.readMerged(u, s, ranges)
}
