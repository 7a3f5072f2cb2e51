// Package debuginfo adds to a load object's table what its DWARF debug
// information (versions 2 to 5) tells: modules, source files and lines.
package debuginfo

import (
	"cmp"
	"debug/elf"
	"fmt"
	"path"
	"slices"
	"strings"

	"stackmill/stages/symbolize/symtab"
	"stackmill/stages/symbolize/symtab/object"
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
// files whose absence left modules without their names.
func Add(t *symtab.Table, f, debug *object.File) (missing []string) {
	source := f
	if debug != nil && hasInfo(debug) {
		source = debug
	}
	if !hasInfo(source) {
		return nil
	}
	addresses := t.Addresses()
	a := &adder{
		table:     t,
		addresses: addresses,
		object:    f,
		source:    source,
		lines:     lines{table: t, addresses: addresses},
		done:      map[uint64]bool{},
		files:     map[string]int32{},
		modules:   map[symtab.Module]int32{},
	}
	if source.Type == elf.ET_REL {
		a.notef("the source lines of a relocatable object cannot be read before it is linked")
		return nil
	}
	alternate, err := source.Alternate()
	if err != nil {
		a.notef("%v", err)
	}
	if alternate != nil {
		defer alternate.Close()
	}
	a.sections = a.load(alternate)
	a.sections.units(a.unit, func(off uint64, err error) {
		a.notef("the unit at offset %d of .debug_info cannot be read: %v", off, err)
	})
	if a.lines.full {
		a.notef("more than %d rows of line numbers: the rest is left out", maxRows)
	}
	a.lines.finish()
	a.assign()
	a.split.close()
	a.report()
	if missing = a.split.missing; len(missing) > 0 && a.split.noPack != "" {
		missing = append(missing, a.split.noPack)
	}
	return missing
}

func hasInfo(f *object.File) bool {
	return f.Section(".debug_info") != nil || f.Section(".zdebug_info") != nil
}

type adder struct {
	table     *symtab.Table
	addresses symtab.Addresses
	object    *object.File
	source    *object.File // the file that holds the debug information
	sections  *sections
	split     split
	lines     lines
	done      map[uint64]bool // line programs that were run
	files     map[string]int32
	modules   map[symtab.Module]int32
	code      []moduleCode
	text      int // bytes of names so far
	failed    int // units noted
}

// moduleCode says that offsets from low up to high belong to a module.
type moduleCode struct {
	low, high uint64
	module    symtab.Module
}

// maxNoted bounds the notes about single units.
const maxNoted = 20

func (a *adder) notef(format string, args ...any) {
	if a.failed++; a.failed <= maxNoted {
		a.table.Notes = append(a.table.Notes, valid(fmt.Sprintf(format, args...)))
	}
}

func (a *adder) report() {
	if n := a.failed - maxNoted; n > 0 {
		a.table.Notes = append(a.table.Notes, fmt.Sprintf("%d more parts of the debug information cannot be read", n))
	}
	if n := len(a.split.missing); n > 0 {
		a.table.Notes = append(a.table.Notes, valid(fmt.Sprintf(
			"%d files of split debug information were not found, the first is %s: their units go by the name of their first source file",
			n, a.split.missing[0])))
	}
}

// load reads the sections. One that cannot be read counts as empty.
func (a *adder) load(alternate *object.File) *sections {
	s := &sections{order: a.source.Order}
	debug := func(f *object.File, name string) []byte {
		b, err := f.Debug(name)
		if err != nil {
			a.notef("%v", err)
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

// bound sets the bounds on overlapping input: what well-formed input needs is
// read once.
func (s *sections) bound() {
	s.scan = 2*len(s.abbrev) + 1<<16
	s.entries = len(s.ranges) + len(s.rnglists)
	s.program = len(s.line)
}

// unit adds what one compilation unit tells.
func (a *adder) unit(u *unit) {
	s := a.sections
	var code []span
	var h *lineHeader
	if v, ok := u.attrs[attrStmtList]; ok && s.line != nil {
		code, h = a.program(u, v.u)
	}
	if own := s.spans(u); own != nil {
		code = own
	}
	if len(code) == 0 {
		return
	}
	m := a.module(u, h)
	if m == a.table.Modules[0] {
		return
	}
	for _, c := range code {
		if off, ok := a.addresses.Offset(c.low); ok {
			a.code = append(a.code, moduleCode{off, off + (c.high - c.low), m})
		}
	}
}

// program runs a line number program unless another unit has: those that dwz
// splits share one. It returns the code that the program covers.
func (a *adder) program(u *unit, off uint64) (code []span, h *lineHeader) {
	if a.done[off] {
		return nil, nil
	}
	a.done[off] = true
	h, err := a.sections.lineHeader(off, u)
	if err == nil {
		a.lines.start()
		numbers := map[uint64]int32{}
		err = h.run(func(r row) bool {
			n, ok := numbers[r.file]
			if !ok {
				n = a.file(h.path(r.file))
				numbers[r.file] = n
			}
			return a.lines.add(r, n)
		})
		code = a.lines.stop()
	}
	if err != nil {
		a.notef("the line numbers at offset %d of .debug_line, of the unit at offset %d of .debug_info: %v", off, u.offset, err)
	}
	return code, h
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

// module names a unit: by its own name, by that of its split half, or by its
// first source file.
func (a *adder) module(u *unit, h *lineHeader) symtab.Module {
	s := a.sections
	dir, name := s.text(u, attrCompDir), s.text(u, attrName)
	lang := u.attrs[attrLanguage].u
	if dwo := s.text(u, attrDwoName); dwo != nil {
		name, lang = a.half(u, dir, dwo)
	} else if dwo := s.text(u, attrGNUDwoName); dwo != nil {
		name, lang = a.half(u, dir, dwo)
	}
	if len(name) == 0 && h != nil {
		name = []byte(h.path(1))
	}
	if a.text += len(dir) + len(name); len(dir)+len(name) > maxPath || a.text > maxText {
		return a.table.Modules[0]
	}
	m := symtab.Module{Name: string(name), Language: language(lang)}
	switch {
	case len(name) == 0:
		return a.table.Modules[0]
	case m.Language == "Go": // the name is a package's, not a file's
	case path.IsAbs(m.Name):
		m.Name = path.Clean(m.Name)
	default:
		m.Name = path.Join(string(dir), m.Name)
	}
	m.Name = valid(m.Name)
	return m
}

// valid makes a name fit for columns of strings.
func valid(name string) string { return strings.ToValidUTF8(name, "\ufffd") }

// half reads the name and language of a skeleton unit's other half.
func (a *adder) half(u *unit, dir, dwo []byte) (name []byte, lang uint64) {
	if len(dir)+len(dwo) > maxPath {
		return nil, 0
	}
	name, lang, err := a.split.find(a.object.Path, string(dir), string(dwo), u.dwoID)
	if err != nil {
		a.notef("%v", err)
	}
	return name, lang
}

// assign gives each function the module whose code it starts in, and the table
// the modules that have functions.
func (a *adder) assign() {
	slices.SortStableFunc(a.code, func(x, y moduleCode) int { return cmp.Compare(x.low, y.low) })
	i := 0
	var covering []moduleCode // that start at or before the function
	for n := range a.table.Functions {
		f := &a.table.Functions[n]
		if f.Kind == symtab.PLT {
			continue
		}
		for ; i < len(a.code) && a.code[i].low <= f.Offset; i++ {
			covering = append(covering, a.code[i])
		}
		for len(covering) > 0 && covering[len(covering)-1].high <= f.Offset {
			covering = covering[:len(covering)-1]
		}
		if len(covering) > 0 {
			f.Module = a.moduleIndex(covering[len(covering)-1].module)
		}
	}
}

func (a *adder) moduleIndex(m symtab.Module) int32 {
	i, ok := a.modules[m]
	if !ok {
		i = int32(len(a.table.Modules))
		a.table.Modules = append(a.table.Modules, m)
		a.modules[m] = i
	}
	return i
}
