package inlines

import (
	"math"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/lines"
	"stackmill/stages/loadobject/symtab"
)

// entryNo is the number of an entry: its index in Reader.entries. The first one says nothing.
type entryNo int32

// textNo is the number of a text: its index in Reader.texts. The first one is empty.
type textNo int32

// entry is what an entry of the debug information says of a function, or of something that a
// function's name depends on: its scope, or a type of its parameters.
type entry struct {
	offset        uint64 // in .debug_info
	file          int32  // of the declaration, in the table; -1 if the entry does not say
	line, column  int32  // 0 if the entry does not say
	name, linkage textNo
	next          entryNo // that it completes
	around        entryNo // the scope that it is in, 0 if that is the unit
	typ           entryNo // that a type is made from, or what a function returns
	parameters    int32   // index into Reader.parameters, 0 if they are not known
	unit          int32   // index into Reader.units
	tag           uint16
	flags         flags
}

type flags uint8

const (
	isRead     flags = 1 << iota
	isScoped         // its scope is wanted
	isPlaced         // its scope is known
	isExternal       // other units may refer to it
	isLvalue         // a method of lvalues (`&`)
	isRvalue         // a method of rvalues (`&&`)
)

// parameters are the types of a function's parameters.
type parameters struct {
	object entryNo // of a method, what points to its object; 0 for other functions
	types  []entryNo
	more   bool // ...
}

// unitOf is a unit whose entries were read.
type unitOf struct {
	in     int32 // number of the sections
	offset uint64
	module symtab.Module   // its name is empty if unknown
	again  *dwarf.Sections // where it can be read again when all units were read; nil if it cannot
}

// context is the unit whose entries are read.
type context struct {
	u       *dwarf.Unit
	s       *dwarf.Sections
	ranges  *dwarf.Sections // of its code
	program *lines.Program  // has the files, nil if there is none
	known   *known
	number  int32     // index into Reader.units
	outer   []uint64  // offsets of functions that no other entry is around, in ascending order
	unread  []entryNo // of this unit
	inside  []entryNo // of this unit, whose scopes are to be found
}

// known is what the reader knows about the entries in some sections.
type known struct {
	number  int32
	entries map[uint64]entryNo // by offset
	symbols map[uint64]int     // indexes into the table's functions of those with code of their own, by offset
	bodies  *bool              // whether a function may be the body of a parallel region, nil if not looked up yet
}

func (r *Reader) knownOf(s *dwarf.Sections) *known {
	k, ok := s.Known.(*known)
	if !ok {
		k = &known{number: r.sections, entries: map[uint64]entryNo{}, symbols: map[uint64]int{}}
		r.sections++
		s.Known = k
	}
	return k
}

// enter starts to read entries of a unit.
func (r *Reader) enter(u *dwarf.Unit, s, ranges *dwarf.Sections, p *lines.Program, m symtab.Module) *context {
	x := &context{u: u, s: s, ranges: ranges, program: p, known: r.knownOf(s), number: int32(len(r.units))}
	r.units = append(r.units, unitOf{x.known.number, u.Offset, m, r.again(s)})
	return x
}

// again returns sections that can be read again when all units were read; nil for those of
// split units.
func (r *Reader) again(s *dwarf.Sections) *dwarf.Sections {
	if s == r.info.Sections || s == r.info.Sections.Supplement {
		return s
	}
	return nil
}

// has reports whether an entry of some sections is in the unit.
func (x *context) has(s *dwarf.Sections, off uint64) bool {
	return s == x.s && off-x.u.Offset < x.u.Size
}

// pendingEntry is an entry that is to be read, or whose scope is wanted, in another unit
// than its reference.
type pendingEntry struct {
	in       *dwarf.Sections
	number   entryNo
	language string // of the unit with the reference
}

// refer returns the number of the entry that an attribute refers to, 0 for none.
func (r *Reader) refer(x *context, ref dwarf.Value) entryNo {
	if ref.Form == 0 {
		return 0
	}
	s, off, ok := x.s.Target(x.u, ref)
	if !ok {
		return 0
	}
	return r.entryAt(x, s, off)
}

// entryAt returns the number of an entry.
func (r *Reader) entryAt(x *context, s *dwarf.Sections, off uint64) entryNo {
	k := x.known
	if s != x.s {
		k = r.knownOf(s)
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
		r.later(x, r.again(s), n)
	}
	return n
}

// later asks for an entry in another unit, whose sections are nil if they cannot be read again.
func (r *Reader) later(x *context, in *dwarf.Sections, n entryNo) {
	if in != nil {
		r.pending = append(r.pending, pendingEntry{in, n, r.units[x.number].module.Language})
	}
}

// scope says that the scope of an entry is wanted, unless it has a linkage name and a line: the
// scope of a lambda expression's function has the line.
func (r *Reader) scope(x *context, n entryNo) {
	e := &r.entries[n]
	if n == 0 || e.flags&isScoped != 0 {
		return
	}
	e.flags |= isScoped
	switch {
	case e.flags&isRead == 0: // done once it is
	case e.unit == x.number:
		r.inside(x, n)
	default:
		r.later(x, r.units[e.unit].again, n)
	}
}

// inside asks for the scope of an entry that was read. A function that completes another
// entry is where that is.
func (r *Reader) inside(x *context, n entryNo) {
	r.scope(x, r.entries[n].next)
	x.inside = append(x.inside, n)
}

// read reads the attributes of an entry of the unit.
func (r *Reader) read(x *context, n entryNo) {
	off := r.entries[n].offset
	c, abbrev := x.s.Entry(x.u, off-x.u.Offset)
	if abbrev == nil || x.s.NameBytes <= 0 {
		return
	}
	before := len(c.Rest)
	e := r.entries[n]
	e.unit, e.tag = x.number, uint16(abbrev.Tag)
	e.flags |= isRead
	var code dwarf.Code
	var next, typ dwarf.Value
	err := x.u.Format.Attributes(&c, abbrev, func(attr uint32, v dwarf.Value) {
		code.Set(attr, v)
		switch attr {
		case dwarf.AttrLinkageName, dwarf.AttrMIPSLinkageName:
			e.linkage = r.textOf(x, v)
		case dwarf.AttrName:
			e.name = r.textOf(x, v)
		case dwarf.AttrDeclFile:
			e.file = r.lines.FileIndex(x.program, v.Uint)
		case dwarf.AttrDeclLine:
			e.line = number32(v)
		case dwarf.AttrDeclColumn:
			e.column = number32(v)
		case dwarf.AttrSpecification, dwarf.AttrOrigin:
			next = v
		case dwarf.AttrType:
			typ = v
		case dwarf.AttrExternal:
			e.set(isExternal, v)
		case dwarf.AttrReference:
			e.set(isLvalue, v)
		case dwarf.AttrRvalueReference:
			e.set(isRvalue, v)
		}
	})
	if x.s.NameBytes -= before - len(c.Rest); err != nil || c.Short {
		return
	}
	if e.linkage == 0 || e.line == 0 || e.file < 0 {
		e.next = r.refer(x, next)
	}
	isFunction := e.isFunction()
	if !isFunction {
		e.typ = r.refer(x, typ)
	}
	r.entries[n] = e
	if isFunction {
		if i, ok := r.ownCode(x, code); ok {
			r.symbols[n] = i
		}
	}
	switch {
	case e.linkage != 0 && e.line > 0: // which says all
	case e.flags&isScoped != 0:
		r.inside(x, n)
	case e.isAggregate():
		r.scope(x, n)
	case e.tag == dwarf.TagSubroutineType:
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
	return e.tag == dwarf.TagSubprogram || e.tag == dwarf.TagInlinedSubroutine || e.tag == dwarf.TagEntryPoint
}

// isAggregate reports whether it is a type whose name is qualified.
func (e *entry) isAggregate() bool {
	switch e.tag {
	case dwarf.TagClassType, dwarf.TagStructureType, dwarf.TagUnionType, dwarf.TagInterfaceType, dwarf.TagEnumerationType:
		return true
	}
	return false
}

// textOf returns the number of a string attribute.
func (r *Reader) textOf(x *context, v dwarf.Value) textNo {
	t := x.s.TextOf(x.u, v)
	x.s.NameBytes -= len(t) + 1
	return r.text(t[:min(len(t), dwarf.MaxPath)])
}

// text returns the number of a text, that of the empty one if there is no room for it.
func (r *Reader) text(t []byte) textNo {
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
func (r *Reader) readParameters(x *context, n entryNo) {
	if r.entries[n].parameters != 0 {
		return
	}
	var list parameters
	w := dwarf.WalkFrom(x.s, x.u, r.entries[n].offset, false)
	for first := true; w.Next() && (first || w.Depth() > 0) && x.s.NameBytes > 0; first = false {
		x.s.NameBytes--
		w.Below = first || w.Here && w.Entry.Tag == dwarf.TagParameterPack // whether parameters are below
		switch {
		case w.Here && w.Entry.Tag == dwarf.TagFormalParameter:
			r.readParameter(x, &w, &list)
		case w.Here && w.Entry.Tag == dwarf.TagUnspecifiedParams:
			list.more = true
			w.Skip()
		case w.Below || !w.SkipTree():
			w.Skip()
		}
	}
	r.entries[n].parameters = int32(len(r.parameters))
	r.parameters = append(r.parameters, list)
}

// readParameter adds the parameter that a walk is at to a list.
func (r *Reader) readParameter(x *context, w *dwarf.Walk[bool], list *parameters) {
	var typ dwarf.Value
	artificial := false
	w.Attributes(func(attr uint32, v dwarf.Value) {
		switch attr {
		case dwarf.AttrType:
			typ = v
		case dwarf.AttrArtificial:
			artificial = v.Uint != 0
		}
	})
	switch t := r.refer(x, typ); {
	case !artificial:
		list.types = append(list.types, t)
	case list.object == 0:
		list.object = t
	}
}
