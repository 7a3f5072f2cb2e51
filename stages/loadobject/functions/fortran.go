package functions

import (
	debugdwarf "debug/dwarf"
	"errors"
	"maps"
	"slices"
	"strings"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

// procedure is a procedure with code whose symbol is not its name: in Fortran the main
// program, a subroutine, a function or an alternate entry of one (S8); in GNU C a nested
// function; in C also one of several functions with a name, which clang numbers when it merges
// units (-flto).
type procedure struct {
	offset  uint64 // in the file, of the first instruction of a part of its code
	linkage string // empty if absent
	name    string // qualified with the enclosing modules and procedures
}

// procedureScope is the context of the entries below an entry.
type procedureScope struct {
	path   string // qualified name of the entry
	outer  string // qualified name of the enclosing entry, which owns alternate entries
	inside bool   // the entry is a procedure, or in one
}

// procedureWalk reads the procedures of a unit.
type procedureWalk struct {
	a *adder
	dwarf.Walk[procedureScope]
	s, ranges *dwarf.Sections
	c         bool              // C, in which only nested and numbered functions are read
	names     map[uint64]string // by the entry's offset
	copies    map[int]uint64    // for procedures without a name, the entry with the name
}

// readProcedures reads a unit's Fortran procedures, or nested functions in C, and adds those with
// code. It returns the names that symbols lack, by entry: Fortran symbols contain neither the main
// program's name nor the procedure around an internal one.
func (a *adder) readProcedures(u *dwarf.Unit, s, ranges *dwarf.Sections) (map[uint64]string, error) {
	lang := dwarf.Language(u.Attrs[debugdwarf.AttrLanguage].Uint)
	if lang != "Fortran" && !(lang == "C" && a.hasNumbered()) {
		return nil, nil
	}
	w := procedureWalk{a, dwarf.NewWalk(s, u, procedureScope{}), s, ranges, lang == "C", map[uint64]string{}, map[int]uint64{}}
	for w.Next() {
		switch tag := w.Entry.Tag; {
		case tag == debugdwarf.TagModule || tag == debugdwarf.TagSubprogram || tag == debugdwarf.TagEntryPoint:
			var e procedureEntry
			if w.Attributes(func(attr debugdwarf.Attr, v dwarf.Value) { e.set(attr, v, u, s) }) {
				w.procedure(&e)
			}
		case dwarf.HoldsNoCode(tag, w.Here.inside) && w.SkipTree():
		default:
			w.Skip()
		}
	}
	if w.Err != nil && w.Err != dwarf.ErrShort {
		return nil, w.Err
	}
	if w.c { // the symbols of other functions are their names
		maps.DeleteFunc(w.names, func(_ uint64, name string) bool { return !strings.Contains(name, "::") })
	}
	for i, origin := range w.copies {
		a.procedures[i].name = w.names[origin]
	}
	return w.names, w.Err
}

// procedure adds the entry of a module, a procedure or an alternate entry.
func (w *procedureWalk) procedure(e *procedureEntry) {
	name, tag := w.path(e), w.Entry.Tag
	if !w.a.info.Room(len(name)) {
		w.Err = errors.New("the names of procedures are too long")
		return
	}
	w.names[w.Offset] = name
	w.Below = procedureScope{name, w.Here.path, w.Here.inside || tag != debugdwarf.TagModule}
	u, outer := w.Unit, w.c && e.origin == 0 && !w.Here.inside
	w.a.scratch = w.ranges.Ranges(w.a.scratch[:0], u, e.code)
	if low, ok := w.ranges.Address(u, e.code.Low); ok && len(w.a.scratch) == 0 {
		w.a.scratch = append(w.a.scratch, dwarf.Range{Low: low}) // alternate entries have no end
	}
	for _, x := range w.a.scratch {
		if off, ok := w.a.addresses.Offset(x.Low); ok {
			if outer && !w.a.hasNumber(off, name) {
				continue // its symbol is its name
			}
			if name == "" {
				w.copies[len(w.a.procedures)] = e.origin
			}
			w.a.procedures = append(w.a.procedures, procedure{off, e.linkage, name})
		}
	}
}

// path returns the qualified name of an entry.
func (w *procedureWalk) path(e *procedureEntry) string {
	scope := w.Here.path
	if w.Entry.Tag == debugdwarf.TagEntryPoint {
		scope = w.Here.outer
	}
	switch {
	case e.name == "":
		return w.names[e.origin]
	case scope == "":
		return e.name
	}
	return scope + "::" + e.name
}

// trimNumber cuts a dot and a number from the end of a symbol.
func trimNumber(s string) string {
	name := strings.TrimRight(s, "0123456789")
	if n := len(name) - 1; n > 0 && n+1 < len(s) && s[n] == '.' {
		return s[:n]
	}
	return s
}

// hasNumberedSymbols reports whether a symbol may be a C function's name with a dot and a number:
// gcc appends these to nested functions, clang to static functions of the same name.
func hasNumberedSymbols(t *symtab.Draft) bool {
	return slices.ContainsFunc(t.Functions, func(f symtab.Function) bool {
		base, _ := symtab.CloneMarks(f.Linkage)
		return trimNumber(base) != base
	})
}

// hasNumber reports whether a function's symbol is the name with a number appended.
func (a *adder) hasNumber(offset uint64, name string) bool {
	f := a.function(offset)
	if f == nil {
		return false
	}
	base, _ := symtab.CloneMarks(f.Linkage)
	return base != name && trimNumber(base) == name
}

// function returns the function at an offset, or nil.
func (a *adder) function(offset uint64) *symtab.Function {
	i, ok := symtab.FindFunction(a.table.Functions, offset)
	if !ok || a.table.Functions[i].Kind == funcinfo.PLT {
		return nil
	}
	return &a.table.Functions[i]
}

// procedureEntry holds the attributes of a module or procedure.
type procedureEntry struct {
	name, linkage string
	origin        uint64 // offset of the entry with the name, 0 for none
	code          dwarf.CodeAttrs
}

func (e *procedureEntry) set(attr debugdwarf.Attr, v dwarf.Value, u *dwarf.Unit, s *dwarf.Sections) {
	text := func(v dwarf.Value) string {
		t := s.TextOf(u, v)
		return string(t[:min(len(t), dwarf.MaxPath)])
	}
	switch attr {
	case debugdwarf.AttrName:
		e.name = text(v)
	case debugdwarf.AttrLinkageName, dwarf.AttrMIPSLinkageName:
		e.linkage = text(v)
	case debugdwarf.AttrSpecification, debugdwarf.AttrAbstractOrigin:
		e.origin, _ = dwarf.Reference(u, v)
	case debugdwarf.AttrLowpc, debugdwarf.AttrHighpc, debugdwarf.AttrRanges:
		e.code.Set(attr, v)
	}
}

// nameProcedures gives the functions of procedures, and their clones and cold parts, the
// procedures' names.
func (a *adder) nameProcedures() {
	if len(a.procedures) == 0 {
		return
	}
	type symbol struct {
		module  int32
		linkage string
	}
	renamed := map[symbol]string{}
	functions := a.table.Functions
	for _, p := range a.procedures {
		f := a.function(p.offset)
		if p.name == "" || f == nil {
			continue
		}
		base, clones := symtab.CloneMarks(f.Linkage)
		if p.linkage != "" && p.linkage != base && p.linkage != f.Linkage || f.Kind == funcinfo.Body {
			continue
		}
		name := dwarf.Valid(p.name)
		if known, _ := strings.CutSuffix(f.Name, clones); strings.HasSuffix(known, "::"+name) {
			name = known // the symbol has the module, which DWARF 2 lacks
		}
		f.Name = name + clones
		renamed[symbol{f.Module, base}] = name
	}
	for i := range functions {
		f := &functions[i]
		base, clones := symtab.CloneMarks(f.Linkage)
		if name, ok := renamed[symbol{f.Module, base}]; ok && clones != "" {
			f.Name = name + clones
		}
	}
}
