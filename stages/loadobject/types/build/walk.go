package build

import (
	debugdwarf "debug/dwarf"
	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/types"
)

// context is what the entries below an entry need to know about it.
type context struct {
	path      string    // prefix of qualified names
	aggregate rawTypeNo // the aggregate that members belong to
	array     rawTypeNo // the array that dimensions belong to
	scope     rawScopeNo
	common    bool // the entries are in a common block, which several units may describe
	ignored   bool // variables are ignored: they belong to a declaration or a call site
}

// walk reads the entries of a unit. linked are the sections with its code ranges and addresses.
func (r *reader) walk(u *dwarf.Unit, s, linked *dwarf.Sections, number types.UnitNo) error {
	d := &unitWalk{reader: r, u: u, s: s, linked: linked, number: number, begin: len(r.types)}
	if d.fortran = dwarf.Language(u.Attrs.Get(debugdwarf.AttrLanguage).Uint) == "Fortran"; d.fortran {
		d.first = 1
	}
	w := dwarf.NewWalk(s, u, context{aggregate: types.None, array: types.None})
	for w.Next() {
		tag := w.Entry.Tag
		if roleOf(tag) == roleNone {
			w.Skip()
			continue
		}
		if !w.Attributes() {
			continue
		}
		w.Below = d.addEntry(&entry{w.Attrs, tag, s.Base + w.Offset}, w.Here)
		sibling := u.Sibling(w.Attrs.Get(debugdwarf.AttrSibling))
		if w.Entry.Children && isLeaf(tag) && sibling > w.Offset-u.Offset && sibling <= u.Size {
			w.SkipTo(sibling)
		}
	}
	return w.Err
}

type unitWalk struct {
	*reader
	u         *dwarf.Unit
	s, linked *dwarf.Sections
	number    types.UnitNo // the unit's number in the table of types
	fortran   bool
	first     int64 // default lower bound of arrays
	begin     int   // number of the unit's first type
}

// role says what an entry becomes in the table.
type role uint8

const (
	roleNone role = iota
	roleType
	roleMember
	roleVariable
	roleScope
	roleContext // changes the context of the entries below
	roleDimension
)

func roleOf(tag debugdwarf.Tag) role {
	switch tag {
	case debugdwarf.TagMember, debugdwarf.TagInheritance:
		return roleMember
	case debugdwarf.TagVariable, debugdwarf.TagFormalParameter:
		return roleVariable
	case debugdwarf.TagSubprogram, debugdwarf.TagInlinedSubroutine, debugdwarf.TagLexDwarfBlock, debugdwarf.TagTryDwarfBlock, debugdwarf.TagCatchDwarfBlock:
		return roleScope
	case debugdwarf.TagNamespace, debugdwarf.TagModule, debugdwarf.TagCommonDwarfBlock, debugdwarf.TagVariant, debugdwarf.TagVariantPart,
		debugdwarf.TagCallSite, dwarf.TagGNUCallSite: // below the last two, entries are ignored
		return roleContext
	case debugdwarf.TagSubrangeType:
		return roleDimension
	}
	if int(tag) < len(isType) && isType[tag] {
		return roleType
	}
	return roleNone
}

// isLeaf reports whether the entries below an entry with the tag are ignored.
func isLeaf(tag debugdwarf.Tag) bool {
	switch tag {
	case debugdwarf.TagEnumerationType, debugdwarf.TagSubroutineType, debugdwarf.TagCallSite, dwarf.TagGNUCallSite:
		return true
	}
	return false
}

// addEntry adds an entry and returns the context of the entries below it.
func (w *unitWalk) addEntry(e *entry, here context) context {
	switch roleOf(e.tag) {
	case roleType:
		return w.addType(e, here)
	case roleMember:
		w.addMember(e, here)
		here.aggregate, here.array = types.None, types.None
	case roleVariable:
		w.addVariable(e, here)
		here.ignored, here.aggregate, here.array = true, types.None, types.None
	case roleScope:
		return w.addScope(e, here)
	case roleDimension:
		if here.array == types.None {
			return w.addType(e, here)
		}
		w.addCount(here.array, e)
	case roleContext:
		switch e.tag {
		case debugdwarf.TagNamespace:
			name := w.text(e, debugdwarf.AttrName)
			if name == "" && e.origin().Form == 0 {
				name = "(anonymous namespace)"
			}
			here.path = w.qualify(here.path, name)
			here.aggregate = types.None
		case debugdwarf.TagModule:
			here.path = w.qualify(here.path, w.text(e, debugdwarf.AttrName))
		case debugdwarf.TagCommonDwarfBlock:
			here.common = true
		case debugdwarf.TagCallSite, dwarf.TagGNUCallSite:
			here.ignored = true
		}
	}
	return here
}

// ref returns the key of the entry that an attribute refers to, 0 for none.
func (w *unitWalk) ref(v dwarf.Value) uint64 {
	switch v.Form {
	case 0:
		return 0
	case dwarf.FormRefSig8:
		key := w.signatureKey(v.Uint)
		if x := &w.signatureTypes[key&^bySignature]; x.unit == 0 {
			x.unit = w.number
		}
		return key
	}
	in, off, ok := w.s.Target(w.u, v)
	if !ok {
		return 0
	}
	return (in.Base + off) &^ bySignature
}

// signatureType is the type that a type unit has, found by the unit's signature.
type signatureType struct {
	key  uint64       // 0 if it was not found
	unit types.UnitNo // the first unit that refers to it
}

// bySignature marks keys that are not offsets: the other bits are an index into signatureTypes.
const bySignature = 1 << 63

func (r *reader) signatureKey(signature uint64) uint64 {
	key, ok := r.signatures[signature]
	if !ok {
		key = bySignature | uint64(len(r.signatures))
		r.signatures[signature] = key
		r.signatureTypes = append(r.signatureTypes, signatureType{})
	}
	return key
}
