// Package functions adds debug information to a load object's table of functions:
// modules, source files and lines, inlined calls, and the names that symbols lack. It
// reads each unit once.
//
// Start reading with Add.
package functions

import (
	debugelf "debug/elf"
	"fmt"
	"maps"
	"sync"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/inlines"
	"stackmill/stages/loadobject/lines"
	"stackmill/stages/loadobject/symtab"
)

// Add adds modules, files, lines and inlined calls to a table. It takes them from the separate
// debug file if that has debug information, else from the object itself. Damage becomes a note in
// the table; a damaged unit does not affect others. missing lists files that were not found,
// without which modules or functions lack names.
func Add(t *symtab.Draft, f, debug *elf.File) (missing []string) {
	d := dwarf.New(f, debug)
	switch {
	case !dwarf.Has(d.Source):
		return nil
	case d.Source.Type == debugelf.ET_REL:
		d.Remarkf("the source lines of a relocatable object cannot be read before it is linked")
	default:
		l := lines.New(d, t)
		a := &adder{info: d, table: t, addresses: l.Addresses, lines: l, inlines: inlines.New(d, l, t), modules: map[symtab.Module]int32{},
			directories: map[string]string{}, hasNumbered: sync.OnceValue(func() bool { return hasNumberedSymbols(t) })}
		a.read()
	}
	t.Notes = append(t.Notes, d.Notes()...)
	return d.Missing()
}

// adder adds debug information to a table.
type adder struct {
	info        *dwarf.Info
	table       *symtab.Draft
	addresses   symtab.Addresses
	lines       *lines.Reader
	inlines     *inlines.Reader
	modules     map[symtab.Module]int32
	directories map[string]string // compilation directories, by the units' paths
	code        []moduleCode
	scratch     []dwarf.Range // ranges of the current subroutine

	procedures  []procedure // procedures of Fortran, and nested functions of C
	merged      []mergedCode
	hasNumbered func() bool // see hasNumberedSymbols
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
	a.lines.Store(a.inlines.Overlay(a.lines.Sorted()))
	a.assign()
	a.assignMerged()
	a.nameProcedures()
	a.nameAda()
	units, files := a.inlines.Finish() // after the functions were named
	maps.Copy(units, a.directories)
	a.table.Shorten(units, files)
}

// moduleCode is a range of a module's code: offsets [low, high).
type moduleCode struct {
	low, high uint64
	module    symtab.Module
}

// unit reads a compilation unit and adds its content.
func (a *adder) unit(u *dwarf.Unit) {
	p, covered := a.lines.Run(u)
	code := a.info.Sections.Ranges(nil, u, u.Attrs)
	if len(code) == 0 {
		code = covered
	}
	if len(code) == 0 {
		return
	}
	m := a.readUnit(u, p)
	if m == a.table.Modules[0] {
		return
	}
	for _, c := range code {
		if off, ok := a.addresses.Offset(c.Low); ok {
			a.code = append(a.code, moduleCode{off, off + (c.High - c.Low), m})
		}
	}
}

// readUnit reads the entries of a unit, or of its split unit, and returns its module.
func (a *adder) readUnit(u *dwarf.Unit, p *lines.Program) (m symtab.Module) {
	s := a.info.Sections
	found := false
	isSkeleton := a.info.SplitUnit(u, func(names *dwarf.Sections, split *dwarf.Unit) {
		found = true
		m = a.module(u, split, names, p)
		if err := a.readEntries(split, names, names.Join(split, u, s), p, m); err != nil {
			a.info.Fail(nil, &elf.DamageError{Offset: -1, Err: fmt.Errorf("split unit %s: %w", s.DwoName(u), err)})
		}
	})
	if found {
		return m
	}
	m = a.module(u, u, s, p)
	if !isSkeleton {
		if err := a.readEntries(u, s, s, p, m); err != nil {
			a.info.Damagedf(".debug_info", u.Offset, "the unit at offset %d of .debug_info: %v", u.Offset, err)
		}
	}
	return m
}

// readEntries reads the entries below a unit's first one.
func (a *adder) readEntries(u *dwarf.Unit, s, ranges *dwarf.Sections, p *lines.Program, m symtab.Module) error {
	if err := a.inlines.Unit(u, s, ranges, p, m); err != nil {
		return err
	}
	if _, err := a.readProcedures(u, s, ranges); err != nil {
		return err
	}
	return a.readMerged(u, s, ranges)
}
