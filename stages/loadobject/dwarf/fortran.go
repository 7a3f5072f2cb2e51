package dwarf

import (
	"errors"
	"maps"
	"slices"
	"sort"
	"strings"

	"stackmill/stages/loadobject/symtab"
)

// procedure is a procedure with code whose symbol does not tell its name: of
// Fortran the main program, a subroutine, a function or an alternate entry to one
// (S8), of GNU C a function within a function.
type procedure struct {
	offset  uint64 // in the file, of its first instruction or that of another part
	linkage string // empty when not told
	name    string // with the modules and procedures around it
}

// readProcedures reads the Fortran procedures of a unit: their symbols tell neither
// the main program's name nor what an internal procedure is internal to. Of C it
// reads what is within other functions.
func (a *adder) readProcedures(u *unit, s, ranges *sections) error {
	names, err := a.procedureNames(u, s, ranges)
	for _, offset := range slices.Sorted(maps.Keys(names)) { // those that are inlined
		a.inlines.rename(s, offset, names[offset])
	}
	return err
}

// procedureScope is what the entries below an entry are named in.
type procedureScope struct {
	path   string // of the entry
	outer  string // of what is around it, where alternate entries belong
	inside bool   // a procedure
}

// procedureWalk reads the procedures of a unit.
type procedureWalk struct {
	a *adder
	walk[procedureScope]
	s, ranges *sections
	c         bool              // C, where only procedures in others are wanted
	names     map[uint64]string // by the entry's offset
	copies    map[int]uint64    // of procedures without a name, the entry that has it
}

// procedureNames reads a unit's procedures and adds those that have code. The
// result are the names that their symbols do not tell, by entry.
func (a *adder) procedureNames(u *unit, s, ranges *sections) (map[uint64]string, error) {
	lang := language(u.attrs[attrLanguage].u)
	if lang != "Fortran" && !(lang == "C" && a.hasNested()) {
		return nil, nil
	}
	w := procedureWalk{a, walkOf(s, u, procedureScope{}), s, ranges, lang == "C", map[uint64]string{}, map[int]uint64{}}
	for w.next() {
		switch tag := w.entry.tag; {
		case tag == tagModule || tag == tagSubprogram || tag == tagEntryPoint:
			var e procedureEntry
			if w.attributes(func(attr uint32, v value) { e.set(attr, v, u, s) }) {
				w.procedure(&e)
			}
		case codeless(tag, w.here.inside) && w.skipTree():
		default:
			w.skip()
		}
	}
	if w.err != nil && w.err != errShort {
		return nil, w.err
	}
	if w.c { // the others' symbols are their names
		maps.DeleteFunc(w.names, func(_ uint64, name string) bool { return !strings.Contains(name, "::") })
	}
	for i, origin := range w.copies {
		a.procedures[i].name = w.names[origin]
	}
	return w.names, w.err
}

// procedure takes the entry of a module, a procedure or an alternate entry.
func (w *procedureWalk) procedure(e *procedureEntry) {
	name, tag := w.path(e), w.entry.tag
	if !w.a.info.room(len(name)) {
		w.err = errors.New("the names of procedures are too long")
		return
	}
	w.names[w.offset] = name
	w.below = procedureScope{name, w.here.path, w.here.inside || tag != tagModule}
	if w.c && e.origin == 0 && !w.here.inside {
		return // its symbol is its name
	}
	u := w.unit
	w.a.spans = w.ranges.spans(w.a.spans[:0], u, e.code)
	if low, ok := w.ranges.address(u, e.code.low); ok && len(w.a.spans) == 0 {
		w.a.spans = append(w.a.spans, span{low: low}) // alternate entries have no end
	}
	for _, x := range w.a.spans {
		if off, ok := w.a.addresses.Offset(x.low); ok {
			if name == "" {
				w.copies[len(w.a.procedures)] = e.origin
			}
			w.a.procedures = append(w.a.procedures, procedure{off, e.linkage, name})
		}
	}
}

// path returns the name of an entry with what is around it.
func (w *procedureWalk) path(e *procedureEntry) string {
	scope := w.here.path
	if w.entry.tag == tagEntryPoint {
		scope = w.here.outer
	}
	switch {
	case e.name == "":
		return w.names[e.origin]
	case scope == "":
		return e.name
	}
	return scope + "::" + e.name
}

// hasNested reports whether a function may be within another one: gcc gives such
// symbols a number behind a dot, before what else it appends to them.
func (a *adder) hasNested() bool {
	if a.nested == nil {
		found := slices.ContainsFunc(a.table.Functions, func(f symtab.Function) bool {
			base, _ := symtab.CloneMarks(f.Linkage)
			i := strings.LastIndexByte(base, '.')
			return i > 0 && i+1 < len(base) && strings.Trim(base[i+1:], "0123456789") == ""
		})
		a.nested = &found
	}
	return *a.nested
}

// procedureEntry is what the entry of a module or procedure says.
type procedureEntry struct {
	name, linkage string
	origin        uint64 // the entry that has its name, 0 for none
	code          pcs
}

func (e *procedureEntry) set(attr uint32, v value, u *unit, s *sections) {
	text := func(v value) string {
		t := s.string(u, v)
		return string(t[:min(len(t), maxPath)])
	}
	switch attr {
	case attrName:
		e.name = text(v)
	case attrLinkageName, attrMIPSLinkageName:
		e.linkage = text(v)
	case attrSpecification, attrOrigin:
		e.origin, _ = reference(u, v)
	case attrLowPC, attrHighPC, attrRanges:
		e.code.set(attr, v)
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
		i := sort.Search(len(functions), func(i int) bool { return functions[i].Offset >= p.offset })
		if p.name == "" || i == len(functions) || functions[i].Offset != p.offset || functions[i].Kind == symtab.PLT {
			continue
		}
		f := &functions[i]
		base, clones := symtab.CloneMarks(f.Linkage)
		if p.linkage != "" && p.linkage != base && p.linkage != f.Linkage || f.Kind == symtab.Body {
			continue
		}
		name := valid(p.name)
		if known, _ := strings.CutSuffix(f.Name, clones); strings.HasSuffix(known, "::"+name) {
			name = known // DWARF 2 has no modules, the symbol has
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
