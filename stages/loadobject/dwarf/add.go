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

// maxText bounds the sum of the lengths of all file and module names, and
// maxPath that of one: hostile tables could join long strings over and over.
const (
	maxText = 256 << 20
	maxPath = 1 << 14
)

// Add fills the table's modules, files and lines and its functions' modules
// from the debug information of the separate debug file, if that has any, or
// else of the object itself (gprofng-experiment 6.7). What cannot be read is
// added to the table's notes; a bad unit loses itself only. The result are the
// files whose absence left modules or functions without their names.
func Add(t *symtab.Table, f, debug *elf.File) (missing []string) {
	source := f
	if debug != nil && Has(debug) {
		source = debug
	}
	if !Has(source) {
		return nil
	}
	addresses := t.Addresses()
	a := &adder{
		table:     t,
		addresses: addresses,
		object:    f,
		source:    source,
		lines:     lines{table: t, addresses: addresses},
		programs:  map[uint64]*program{},
		files:     map[string]int32{},
		modules:   map[symtab.Module]int32{},
		names:     names{list: []functionName{{text: unnamed}}, index: map[functionName]int32{}, symbols: map[int32]int32{}},
	}
	if source.Type == debugelf.ET_REL {
		a.remarkf("the source lines of a relocatable object cannot be read before it is linked")
		return nil
	}
	alternate := a.shared()
	if alternate != nil {
		defer alternate.Close()
	}
	a.sections = a.load(alternate)
	a.sections.units(a.unit, func(off uint64, err error) {
		a.damagedf(".debug_info", off, "the unit at offset %d of .debug_info cannot be read: %v", off, err)
	})
	if a.lines.full {
		a.remarkf("more than %d rows of line numbers: the rest is left out", maxRows)
	}
	a.lines.finish()
	a.assign()
	a.assignMerged()
	a.nameProcedures()
	a.elsewhere()
	a.nameCalls() // by the names that functions have now
	a.split.close()
	a.report()
	return a.missing()
}

// Has reports whether a file has debug information.
func Has(f *elf.File) bool {
	return f.Section(".debug_info") != nil || f.Section(".zdebug_info") != nil
}

type adder struct {
	table     *symtab.Table
	addresses symtab.Addresses
	object    *elf.File
	source    *elf.File // the file that holds the debug information
	sections  *sections
	split     split
	absent    string // the file that dwz moved entries to, when it is missing
	lines     lines
	programs  map[uint64]*program // by offset
	files     map[string]int32
	names     names
	modules   map[symtab.Module]int32
	code      []moduleCode
	text      int    // bytes of names so far
	spans     []span // of the subroutine that is read

	procedures []procedure // of Fortran, and those of C that are within others
	merged     []mergedCode
	nested     *bool // whether C has any, once it was asked

	noted int  // notes, also those left out
	lost  bool // a note that was left out is about damage
}

// moduleCode says that offsets from low up to high belong to a module.
type moduleCode struct {
	low, high uint64
	module    symtab.Module
}

// load reads the sections. One that cannot be read counts as empty.
func (a *adder) load(alternate *elf.File) *sections {
	s := &sections{order: a.source.Order}
	debug := func(f *elf.File, name string) []byte {
		b, err := f.Debug(name)
		if err != nil {
			a.fail(f, err)
		}
		return b
	}
	for _, x := range []struct {
		name string
		to   *[]byte
	}{
		{"info", &s.info}, {"abbrev", &s.abbrev}, {"str", &s.str}, {"line_str", &s.lineStr},
		{"str_offsets", &s.strOffsets}, {"addr", &s.addr}, {"line", &s.line},
		{"ranges", &s.ranges}, {"rnglists", &s.rnglists},
	} {
		*x.to = debug(a.source, x.name)
	}
	if alternate != nil {
		s.altStr = debug(alternate, "str")
	}
	s.bound()
	return s
}

// unit adds what one compilation unit tells.
func (a *adder) unit(u *unit) {
	p, covered := a.program(u)
	code := a.sections.spans(nil, u, u.pcs())
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

// whole reads what is behind a unit's first entry, in its split half if it has
// one, and returns its module.
func (a *adder) whole(u *unit, p *program) symtab.Module {
	s := a.sections
	name := s.text(u, attrDwoName)
	if name == nil {
		name = s.text(u, attrGNUDwoName)
	}
	if name == nil {
		if err := a.read(u, s, s, p); err != nil {
			a.damagedf(".debug_info", u.offset, "the unit at offset %d of .debug_info: %v", u.offset, err)
		}
		return a.module(u, u, s, p)
	}
	if dir := s.text(u, attrCompDir); len(dir)+len(name) <= maxPath {
		var m *symtab.Module
		err := a.split.find(a.object, string(dir), string(name), u.dwoID, func(names *sections, half *unit) {
			found := a.module(u, half, names, p)
			m = &found
			if err := a.read(half, names, names.join(half, u, s), p); err != nil {
				a.fail(nil, &elf.DamageError{Offset: -1, Err: fmt.Errorf("split unit %s: %w", name, err)})
			}
		})
		if err != nil {
			a.fail(nil, err)
		}
		if m != nil {
			return *m
		}
	}
	return a.module(u, u, s, p)
}

// read reads what is below a unit's first entry.
func (a *adder) read(u *unit, s, ranges *sections, p *program) error {
	if err := a.calls(u, s, ranges, p); err != nil {
		return err
	}
	if err := a.readProcedures(u, s, ranges); err != nil {
		return err
	}
	return a.readMerged(u, s, ranges)
}
