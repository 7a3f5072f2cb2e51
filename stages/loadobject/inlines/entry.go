package inlines

import (
	debugdwarf "debug/dwarf"
	"math"
	"sync"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/lines"
	"stackmill/stages/loadobject/symtab"
)

// entryNo is an index into Reader.entries. Entry 0 is empty: it means no entry.
type entryNo int32

// textNo is an index into Reader.texts. Text 0 is the empty string.
type textNo int32

// entry has the needed attributes of a debug information entry. It describes a function, or
// something that a function's name depends on, such as a scope or a parameter's type.
type entry struct {
	offset        uint64 // in .debug_info
	file          int32  // file of the declaration, index in the table; -1 if absent
	line, column  int32  // where the declaration is; 0 if absent
	name, linkage textNo
	next          entryNo // abstract origin or specification
	around        entryNo // enclosing scope, 0 if that is the unit
	typ           entryNo // DW_AT_type
	parameters    int32   // index into Reader.parameters, 0 if unknown
	unit          int32   // index into Reader.units
	tag           debugdwarf.Tag
	flags         flags
}

type flags uint8

const (
	isRead       flags = 1 << iota
	wantsScope         // its scope is wanted
	isScopeKnown       // around is set
	isExternal         // other units may refer to it
	isLvalue           // a method with ref-qualifier `&`
	isRvalue           // a method with ref-qualifier `&&`
)

// parameters are the types of a function's parameters.
type parameters struct {
	object entryNo // type of a method's object pointer; 0 for other functions
	types  []entryNo
	more   bool // a variable number follows (...)
}

// readUnit identifies a unit of which entries were read.
type readUnit struct {
	sections int32 // number of the unit's sections, as in sectionCache
	offset   uint64
	module   symtab.Module   // its name is empty if unknown
	reread   *dwarf.Sections // sections for reading it again after all units; nil if that is impossible
}

// unitContext has the unit whose entries are being read, the current unit.
type unitContext struct {
	u       *dwarf.Unit
	s       *dwarf.Sections
	ranges  *dwarf.Sections // the sections with the ranges of its code
	program *lines.Program  // has the unit's files; nil if there is none
	cache   *sectionCache
	number  int32     // index into Reader.units
	outer   []uint64  // offsets of functions at the top level, in ascending order
	unread  []entryNo // entries of this unit still to be read
	scopes  []entryNo // entries of this unit whose scopes are still to be found
}

// sectionCache has what the reader knows about the entries of one .debug_info.
type sectionCache struct {
	number    int32
	entries   map[uint64]entryNo // by offset in .debug_info
	symbols   map[uint64]int     // table indexes of functions with code that is not inlined, by the offset of their origin
	hasBodies func() bool        // whether a function may be the body of a parallel region
}

func (r *Reader) cacheOf(s *dwarf.Sections) *sectionCache {
	k, ok := s.Cache.(*sectionCache)
	if !ok {
		k = &sectionCache{number: r.sections, entries: map[uint64]entryNo{}, symbols: map[uint64]int{},
			hasBodies: sync.OnceValue(func() bool { return s.ContainsString(bodyName) })}
		r.sections++
		s.Cache = k
	}
	return k
}

// enter makes a unit the current one and returns its context.
func (r *Reader) enter(u *dwarf.Unit, s, ranges *dwarf.Sections, p *lines.Program, m symtab.Module) *unitContext {
	x := &unitContext{u: u, s: s, ranges: ranges, program: p, cache: r.cacheOf(s), number: int32(len(r.units))}
	r.units = append(r.units, readUnit{x.cache.number, u.Offset, m, r.rereadable(s)})
	return x
}

// rereadable returns s if its units can be read a second time, after all units were read. It
// returns nil for sections of split units, which are closed by then.
func (r *Reader) rereadable(s *dwarf.Sections) *dwarf.Sections {
	if s == r.info.Sections || s == r.info.Sections.Supplement {
		return s
	}
	return nil
}

// has reports whether the unit contains the entry at an offset of the sections s.
func (x *unitContext) has(s *dwarf.Sections, off uint64) bool {
	return s == x.s && off-x.u.Offset < x.u.Size
}

// pendingEntry is an entry in another unit than the one that refers to it. After all units were
// read, it is read, or its scope is found.
type pendingEntry struct {
	in       *dwarf.Sections
	number   entryNo
	language string // language of the unit that refers to it
}

// refer returns the number of the entry that an attribute refers to; 0 for none.
func (r *Reader) refer(x *unitContext, ref dwarf.Value) entryNo {
	if ref.Form == 0 {
		return 0
	}
	s, off, ok := x.s.Target(x.u, ref)
	if !ok {
		return 0
	}
	return r.entryAt(x, s, off)
}

// entryAt returns the number of the entry at an offset. It requests reading a new entry.
func (r *Reader) entryAt(x *unitContext, s *dwarf.Sections, off uint64) entryNo {
	k := x.cache
	if s != x.s {
		k = r.cacheOf(s)
	}
	n, ok := k.entries[off]
	if ok {
		return n
	}
	n = entryNo(len(r.entries))
	r.entries = append(r.entries, entry{offset: off, file: -1, unit: -1})
	k.entries[off] = n
	if f, known := k.symbols[off]; known {
		r.symbols[n] = f
	}
	if x.has(s, off) {
		x.unread = append(x.unread, n)
	} else {
		r.postpone(x, r.rereadable(s), n)
	}
	return n
}

// postpone requests an entry in another unit; in is nil if that unit cannot be read again, so that
// the entry stays unread.
func (r *Reader) postpone(x *unitContext, in *dwarf.Sections, n entryNo) {
	if in != nil {
		r.pending = append(r.pending, pendingEntry{in, n, r.units[x.number].module.Language})
	}
}

// requestScope requests finding the scope of an entry. An entry that has both a linkage name and a
// line needs none; a lambda expression's function gets its line from its scope.
func (r *Reader) requestScope(x *unitContext, n entryNo) {
	e := &r.entries[n]
	if n == 0 || e.flags&wantsScope != 0 {
		return
	}
	e.flags |= wantsScope
	switch {
	case e.flags&isRead == 0: // read will request it again
	case e.unit == x.number:
		r.addScopeRequest(x, n)
	default:
		r.postpone(x, r.units[e.unit].reread, n)
	}
}

// addScopeRequest requests finding the scopes of an entry that was read and of its abstract origin
// or specification: a name is qualified with the scope of the declaration.
func (r *Reader) addScopeRequest(x *unitContext, n entryNo) {
	r.requestScope(x, r.entries[n].next)
	x.scopes = append(x.scopes, n)
}

// read reads the attributes of an entry in the current unit.
func (r *Reader) read(x *unitContext, n entryNo) {
	off := r.entries[n].offset
	c, abbrev := x.s.Entry(x.u, off-x.u.Offset)
	if abbrev == nil || x.s.NameBytes <= 0 {
		return
	}
	before := len(c.Rest)
	e := r.entries[n]
	e.unit, e.tag = x.number, abbrev.Tag
	e.flags |= isRead
	attrs, err := x.u.Format.Attributes(&c, abbrev, r.attrs)
	r.attrs = attrs
	if x.s.NameBytes -= before - len(c.Rest); err != nil || c.Short {
		return
	}
	e.linkage = r.internString(x, attrs.Get(debugdwarf.AttrLinkageName, dwarf.AttrMIPSLinkageName))
	e.name = r.internString(x, attrs.Get(debugdwarf.AttrName))
	if file := attrs.Get(debugdwarf.AttrDeclFile); file.Form != 0 {
		e.file = r.lines.FileIndex(x.program, file.Uint)
	}
	e.line, e.column = number32(attrs.Get(debugdwarf.AttrDeclLine)), number32(attrs.Get(debugdwarf.AttrDeclColumn))
	e.set(isExternal, attrs.Get(debugdwarf.AttrExternal))
	e.set(isLvalue, attrs.Get(debugdwarf.AttrReference))
	e.set(isRvalue, attrs.Get(debugdwarf.AttrRvalueReference))
	if e.linkage == 0 || e.line == 0 || e.file < 0 {
		e.next = r.refer(x, attrs.Get(debugdwarf.AttrSpecification, debugdwarf.AttrAbstractOrigin))
	}
	isFunction := e.isFunction()
	if !isFunction {
		e.typ = r.refer(x, attrs.Get(debugdwarf.AttrType))
	}
	r.entries[n] = e
	if isFunction {
		if i, ok := r.ownCode(x, attrs); ok {
			r.symbols[n] = i
		}
	}
	switch {
	case e.linkage != 0 && e.line > 0: // nothing else is needed
	case e.flags&wantsScope != 0:
		r.addScopeRequest(x, n)
	case e.isAggregate():
		r.requestScope(x, n)
	case e.tag == debugdwarf.TagSubroutineType:
		r.readParameters(x, n)
	}
}

func number32(v dwarf.Value) int32 {
	if v.Uint > math.MaxInt32 {
		return 0
	}
	return int32(v.Uint)
}

func (e *entry) set(f flags, v dwarf.Value) {
	if v.Uint != 0 {
		e.flags |= f
	}
}

func (e *entry) isFunction() bool {
	return e.tag == debugdwarf.TagSubprogram || e.tag == debugdwarf.TagInlinedSubroutine || e.tag == debugdwarf.TagEntryPoint
}

// isAggregate reports whether the entry is a class, a structure, a union or an enumeration.
func (e *entry) isAggregate() bool {
	switch e.tag {
	case debugdwarf.TagClassType, debugdwarf.TagStructType, debugdwarf.TagUnionType, debugdwarf.TagInterfaceType, debugdwarf.TagEnumerationType:
		return true
	}
	return false
}

// internString returns the number of the text of a string attribute, 0 if there is no room for it.
func (r *Reader) internString(x *unitContext, v dwarf.Value) textNo {
	if v.Form == 0 {
		return 0
	}
	t := x.s.TextOf(x.u, v)
	x.s.NameBytes -= len(t) + 1
	t = t[:min(len(t), dwarf.MaxPath)]
	if n, ok := r.textNos[string(t)]; ok {
		return n
	}
	if !r.info.Room(len(t)) {
		return 0
	}
	n := textNo(len(r.texts))
	r.texts = append(r.texts, string(t))
	r.textNos[r.texts[n]] = n
	return n
}

// readParameters reads the types of a function's parameters.
func (r *Reader) readParameters(x *unitContext, n entryNo) {
	if r.entries[n].parameters != 0 {
		return
	}
	var list parameters
	w := dwarf.NewWalkAt(x.s, x.u, r.entries[n].offset, false)
	for first := true; w.Next() && (first || w.Depth() > 0) && x.s.NameBytes > 0; first = false {
		x.s.NameBytes--
		w.Below = first || w.Here && w.Entry.Tag == dwarf.TagGNUFormalParameterPack // the entries below are parameters
		switch {
		case w.Here && w.Entry.Tag == debugdwarf.TagFormalParameter:
			r.readParameter(x, &w, &list)
		case w.Here && w.Entry.Tag == debugdwarf.TagUnspecifiedParameters:
			list.more = true
			w.Skip()
		case w.Below || !w.SkipTree():
			w.Skip()
		}
	}
	r.entries[n].parameters = int32(len(r.parameters))
	r.parameters = append(r.parameters, list)
}

// readParameter adds the parameter at the walk's current entry to a list.
func (r *Reader) readParameter(x *unitContext, w *dwarf.Walk[bool], list *parameters) {
	w.Attributes()
	switch t := r.refer(x, w.Attrs.Get(debugdwarf.AttrType)); {
	case w.Attrs.Get(debugdwarf.AttrArtificial).Uint == 0:
		list.types = append(list.types, t)
	case list.object == 0:
		list.object = t
	}
}
