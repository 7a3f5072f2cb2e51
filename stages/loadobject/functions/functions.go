// Package functions completes a load object's table of functions from its debug
// information: with modules, source files and lines, inlined calls, and the names that
// symbols lack. It reads each unit once, for all of these.
package functions

import (
	debugelf "debug/elf"
	"fmt"
	"maps"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/inlines"
	"stackmill/stages/loadobject/lines"
	"stackmill/stages/loadobject/symtab"
)

// Add adds modules, files, lines and inlined calls to a table, from the debug
// information of the separate debug file, if that has any, or else of the object
// itself. Anything unreadable is added to the table's notes; a damaged unit does not
// affect others. Missing are the files without which modules or functions lack names.
func Add(t *symtab.Draft, f, debug *elf.File) (missing []string) {
	d := dwarf.New(f, debug)
	switch {
	case !dwarf.Has(d.Source):
		return nil
	case d.Source.Type == debugelf.ET_REL:
		d.Remarkf("the source lines of a relocatable object cannot be read before it is linked")
	default:
		newAdder(d, t).read()
	}
	t.Notes = append(t.Notes, d.Notes()...)
	return d.Missing()
}

// adder completes a table.
type adder struct {
	info      *dwarf.Info
	table     *symtab.Draft
	addresses symtab.Addresses
	lines     *lines.Reader
	inlines   *inlines.Reader
	modules   map[symtab.Module]int32
	// directories are those in which the units were compiled, by the units' paths.
	directories map[string]string
	code        []moduleCode
	spans       []dwarf.Span // of the subroutine that is read

	procedures []procedure // of Fortran, and those of C that are within others
	merged     []mergedCode
	nested     *bool // whether C has any, nil if not looked up yet
}

func newAdder(d *dwarf.Info, t *symtab.Draft) *adder {
	l := lines.New(d, t)
	return &adder{info: d, table: t, addresses: l.Addresses, lines: l, inlines: inlines.New(d, l, t), modules: map[symtab.Module]int32{}, directories: map[string]string{}}
}

// read reads all units and completes the table.
func (a *adder) read() {
	if supplement := a.info.Open(); supplement != nil {
		defer supplement.Close()
	}
	defer a.info.Close()
	a.info.Sections.Units(a.unit, func(off uint64, err error) {
		a.info.Damagedf(".debug_info", off, "the unit at offset %d of .debug_info cannot be read: %v", off, err)
	})
	if a.lines.Full || a.inlines.Full {
		a.info.Remarkf("more than %d rows of line numbers: the rest are left out", lines.MaxRows)
	}
	a.lines.Store(a.inlines.Over(a.lines.Sorted()))
	a.assign()
	a.assignMerged()
	a.nameProcedures()
	a.nameAda()
	units, files := a.inlines.Finish() // by the names that functions have now
	maps.Copy(units, a.directories)
	a.table.Shorten(units, files)
}

// moduleCode says that offsets from low up to high belong to a module.
type moduleCode struct {
	low, high uint64
	module    symtab.Module
}

// unit adds what one compilation unit contains.
func (a *adder) unit(u *dwarf.Unit) {
	p, covered := a.lines.Run(u)
	code := a.info.Sections.Spans(nil, u, u.Code())
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
		if off, ok := a.addresses.Offset(c.Low); ok {
			a.code = append(a.code, moduleCode{off, off + (c.High - c.Low), m})
		}
	}
}

// whole reads what is below a unit's first entry, in its split half if it has
// one, and returns its module.
func (a *adder) whole(u *dwarf.Unit, p *lines.Program) (m symtab.Module) {
	s := a.info.Sections
	found := false
	split := a.info.Half(u, func(names *dwarf.Sections, half *dwarf.Unit) {
		found = true
		m = a.module(u, half, names, p)
		if err := a.below(half, names, names.Join(half, u, s), p, m); err != nil {
			a.info.Fail(nil, &elf.DamageError{Offset: -1, Err: fmt.Errorf("split unit %s: %w", s.DwoName(u), err)})
		}
	})
	if found {
		return m
	}
	m = a.module(u, u, s, p)
	if !split {
		if err := a.below(u, s, s, p, m); err != nil {
			a.info.Damagedf(".debug_info", u.Offset, "the unit at offset %d of .debug_info: %v", u.Offset, err)
		}
	}
	return m
}

// below reads what is below a unit's first entry.
func (a *adder) below(u *dwarf.Unit, s, ranges *dwarf.Sections, p *lines.Program, m symtab.Module) error {
	if err := a.inlines.Unit(u, s, ranges, p, m); err != nil {
		return err
	}
	if err := a.readProcedures(u, s, ranges); err != nil {
		return err
	}
	return a.readMerged(u, s, ranges)
}
