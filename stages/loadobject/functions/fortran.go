package functions

import (
	"errors"
	"maps"
	"slices"
	"sort"
	"strings"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

// procedure is a procedure with code whose symbol is not its name: in Fortran the main
// program, a subroutine, a function or an alternate entry to one (S8), in GNU C a
// function within a function. In C it may be any function that has a name of its own
// unit's: clang numbers the functions of one name when it merges units (-flto).
type procedure struct {
	offset  uint64 // in the file, of its first instruction or that of another part
	linkage string // empty if absent
	name    string // with the modules and procedures around it
}

// readProcedures reads the Fortran procedures of a unit: their symbols have neither the
// main program's name nor the procedure around an internal one. In C it reads functions
// within others.
func (a *adder) readProcedures(u *dwarf.Unit, s, ranges *dwarf.Sections) error {
	_, err := a.procedureNames(u, s, ranges)
	return err
}

// procedureScope is what encloses the entries below an entry.
type procedureScope struct {
	path   string // of the entry
	outer  string // of what is around it, where alternate entries belong
	inside bool   // a procedure
}

// procedureWalk reads the procedures of a unit.
type procedureWalk struct {
	a *adder
	dwarf.Walk[procedureScope]
	s, ranges *dwarf.Sections
	c         bool              // C, where only functions within others are wanted
	names     map[uint64]string // by the entry's offset
	copies    map[int]uint64    // of procedures without a name, the entry that has it
}

// procedureNames reads a unit's procedures and adds those that have code. It returns
// the names that symbols lack, by entry.
func (a *adder) procedureNames(u *dwarf.Unit, s, ranges *dwarf.Sections) (map[uint64]string, error) {
	lang := dwarf.Language(u.Attrs[dwarf.AttrLanguage].Uint)
	if lang != "Fortran" && !(lang == "C" && a.hasNested()) {
		return nil, nil
	}
	w := procedureWalk{a, dwarf.WalkOf(s, u, procedureScope{}), s, ranges, lang == "C", map[uint64]string{}, map[int]uint64{}}
	for w.Next() {
		switch tag := w.Entry.Tag; {
		case tag == dwarf.TagModule || tag == dwarf.TagSubprogram || tag == dwarf.TagEntryPoint:
			var e procedureEntry
			if w.Attributes(func(attr uint32, v dwarf.Value) { e.set(attr, v, u, s) }) {
				w.procedure(&e)
			}
		case dwarf.Codeless(tag, w.Here.inside) && w.SkipTree():
		default:
			w.Skip()
		}
	}
	if w.Err != nil && w.Err != dwarf.ErrShort {
		return nil, w.Err
	}
	if w.c { // the others' symbols are their names
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
	w.Below = procedureScope{name, w.Here.path, w.Here.inside || tag != dwarf.TagModule}
	u, outer := w.Unit, w.c && e.origin == 0 && !w.Here.inside
	w.a.spans = w.ranges.Spans(w.a.spans[:0], u, e.code)
	if low, ok := w.ranges.Address(u, e.code.Low); ok && len(w.a.spans) == 0 {
		w.a.spans = append(w.a.spans, dwarf.Span{Low: low}) // alternate entries have no end
	}
	for _, x := range w.a.spans {
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

// path returns the name of an entry, qualified with what encloses it.
func (w *procedureWalk) path(e *procedureEntry) string {
	scope := w.Here.path
	if w.Entry.Tag == dwarf.TagEntryPoint {
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

// unnumbered cuts a dot and a number from the end of a symbol.
func unnumbered(s string) string {
	name := strings.TrimRight(s, "0123456789")
	if n := len(name) - 1; n > 0 && n+1 < len(s) && s[n] == '.' {
		return s[:n]
	}
	return s
}

// hasNested reports whether a symbol in C may be a function's name with a dot and a number
// behind it: gcc appends these to functions within others, clang to static ones of one name.
func (a *adder) hasNested() bool {
	if a.nested == nil {
		found := slices.ContainsFunc(a.table.Functions, func(f symtab.Function) bool {
			base, _ := symtab.CloneMarks(f.Linkage)
			return unnumbered(base) != base
		})
		a.nested = &found
	}
	return *a.nested
}

// hasNumber reports whether a function's symbol is a name and a number.
func (a *adder) hasNumber(offset uint64, name string) bool {
	f := a.function(offset)
	if f == nil {
		return false
	}
	base, _ := symtab.CloneMarks(f.Linkage)
	return base != name && unnumbered(base) == name
}

// function returns the function at an offset, or nil.
func (a *adder) function(offset uint64) *symtab.Function {
	functions := a.table.Functions
	i := sort.Search(len(functions), func(i int) bool { return functions[i].Offset >= offset })
	if i == len(functions) || functions[i].Offset != offset || functions[i].Kind == funcinfo.PLT {
		return nil
	}
	return &functions[i]
}

// procedureEntry has the attributes of a module or procedure.
type procedureEntry struct {
	name, linkage string
	origin        uint64 // the entry that has its name, 0 for none
	code          dwarf.Code
}

func (e *procedureEntry) set(attr uint32, v dwarf.Value, u *dwarf.Unit, s *dwarf.Sections) {
	text := func(v dwarf.Value) string {
		t := s.TextOf(u, v)
		return string(t[:min(len(t), dwarf.MaxPath)])
	}
	switch attr {
	case dwarf.AttrName:
		e.name = text(v)
	case dwarf.AttrLinkageName, dwarf.AttrMIPSLinkageName:
		e.linkage = text(v)
	case dwarf.AttrSpecification, dwarf.AttrOrigin:
		e.origin, _ = dwarf.Reference(u, v)
	case dwarf.AttrLowPC, dwarf.AttrHighPC, dwarf.AttrRanges:
		e.code.Set(attr, v)
	}
}

// nameProcedures gives the functions that are such procedures, and then their
// clones and cold parts, the procedures' names.
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
			name = known // DWARF 2 has no modules, but the symbol has
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
