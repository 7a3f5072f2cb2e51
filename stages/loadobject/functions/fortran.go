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

// procedure is a function whose symbol is not its name. In Fortran: the main program, a subroutine,
// a function or an alternate entry of one (S8). In GNU C: a nested function. In C: one of several
// functions with the same name, to which clang appends numbers when it merges units (-flto).
type procedure struct {
	offset  uint64 // offset in the file of the first instruction of a part of its code
	linkage string // empty if absent
	name    string // qualified with the enclosing modules and procedures
}

// procedureScope is what the entries below an entry need to know about it.
type procedureScope struct {
	path   string // qualified name of the entry
	outer  string // qualified name of the scope that contains this entry; it also owns alternate entries
	inside bool   // the entry is a procedure, or in one
}

// procedureWalk walks over a unit and collects its procedures.
type procedureWalk struct {
	a *adder
	dwarf.Walk[procedureScope]
	s, ranges *dwarf.Sections
	c         bool              // C: only nested and numbered functions are read
	names     map[uint64]string // qualified names, by the entry's offset
	copies    map[int]uint64    // index of a procedure without a name -> offset of the entry with its name
}

// readProcedures reads a unit's procedures, and adds those with code. In C, procedures are only
// functions that are nested or have numbered symbols. It returns procedures' names by entry, as far
// as symbols lack them: Fortran symbols contain neither the main program's name nor, for an
// internal procedure, the procedure that contains it.
func (a *adder) readProcedures(u *dwarf.Unit, s, ranges *dwarf.Sections) (map[uint64]string, error) {
	lang := dwarf.Language(u.Attrs.Get(debugdwarf.AttrLanguage).Uint)
	if lang != "Fortran" && !(lang == "C" && a.hasNumbered()) {
		return nil, nil
	}
	w := procedureWalk{a, dwarf.NewWalk(s, u, procedureScope{}), s, ranges, lang == "C", map[uint64]string{}, map[int]uint64{}}
	for w.Next() {
		switch tag := w.Entry.Tag; {
		case tag == debugdwarf.TagModule || tag == debugdwarf.TagSubprogram || tag == debugdwarf.TagEntryPoint:
			if w.Attributes() {
				w.procedure()
			}
		case dwarf.HoldsNoCode(tag, w.Here.inside) && w.SkipTree():
		default:
			w.Skip()
		}
	}
	if w.Err != nil && w.Err != dwarf.ErrShort {
		return nil, w.Err
	}
	if w.c { // keep only qualified names: functions in C have their names as symbols
		maps.DeleteFunc(w.names, func(_ uint64, name string) bool { return !strings.Contains(name, "::") })
	}
	for i, origin := range w.copies {
		a.procedures[i].name = w.names[origin]
	}
	return w.names, w.Err
}

// procedure records the name of the current entry, a module, a procedure or an alternate entry, and
// adds a procedure if the entry has code.
func (w *procedureWalk) procedure() {
	origin, _ := dwarf.Reference(w.Unit, w.Attrs.Get(debugdwarf.AttrSpecification, debugdwarf.AttrAbstractOrigin))
	name, tag := w.path(origin), w.Entry.Tag
	if !w.a.info.Room(len(name)) {
		w.Err = errors.New("the names of procedures are too long")
		return
	}
	w.names[w.Offset] = name
	w.Below = procedureScope{name, w.Here.path, w.Here.inside || tag != debugdwarf.TagModule}
	u, outer := w.Unit, w.c && origin == 0 && !w.Here.inside
	w.a.scratch = w.ranges.Ranges(w.a.scratch[:0], u, w.Attrs)
	if low, ok := w.ranges.Address(u, w.Attrs.Get(debugdwarf.AttrLowpc)); ok && len(w.a.scratch) == 0 {
		w.a.scratch = append(w.a.scratch, dwarf.Range{Low: low}) // alternate entries have no end
	}
	for _, x := range w.a.scratch {
		if off, ok := w.a.addresses.Offset(x.Low); ok {
			if outer && !w.a.hasNumber(off, name) {
				continue // its symbol is its name
			}
			if name == "" {
				w.copies[len(w.a.procedures)] = origin
			}
			w.a.procedures = append(w.a.procedures, procedure{off, w.text(debugdwarf.AttrLinkageName, dwarf.AttrMIPSLinkageName), name})
		}
	}
}

// text returns a string attribute of the entry.
func (w *procedureWalk) text(names ...debugdwarf.Attr) string {
	t := w.s.TextOf(w.Unit, w.Attrs.Get(names...))
	return string(t[:min(len(t), dwarf.MaxPath)])
}

// path returns the entry's qualified name. If the entry has no name, it returns that of its origin.
func (w *procedureWalk) path(origin uint64) string {
	scope, name := w.Here.path, w.text(debugdwarf.AttrName)
	if w.Entry.Tag == debugdwarf.TagEntryPoint {
		scope = w.Here.outer
	}
	switch {
	case name == "":
		return w.names[origin]
	case scope == "":
		return name
	}
	return scope + "::" + name
}

// trimNumber cuts off a dot and a number at the end of a symbol.
func trimNumber(s string) string {
	name := strings.TrimRight(s, "0123456789")
	if n := len(name) - 1; n > 0 && n+1 < len(s) && s[n] == '.' {
		return s[:n]
	}
	return s
}

// hasNumberedSymbols reports whether any symbol looks like a C function's name followed by a dot
// and a number: gcc numbers nested functions, clang static functions with the same name.
func hasNumberedSymbols(t *symtab.Draft) bool {
	return slices.ContainsFunc(t.Functions, func(f symtab.Function) bool {
		base, _ := symtab.CloneMarks(f.Linkage)
		return trimNumber(base) != base
	})
}

// hasNumber reports whether the symbol of the function at an offset is name, a dot and a number.
func (a *adder) hasNumber(offset uint64, name string) bool {
	f := a.function(offset)
	if f == nil {
		return false
	}
	base, _ := symtab.CloneMarks(f.Linkage)
	return base != name && trimNumber(base) == name
}

func (a *adder) function(offset uint64) *symtab.Function {
	i, ok := symtab.FindFunction(a.table.Functions, offset)
	if !ok || a.table.Functions[i].Kind == funcinfo.PLT {
		return nil
	}
	return &a.table.Functions[i]
}

// nameProcedures gives functions the names of their procedures, also clones and cold parts.
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
			name = known // the symbol contains the module, which DWARF 2 lacks
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
