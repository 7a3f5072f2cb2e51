package build

import (
	debugdwarf "debug/dwarf"
	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/types"
)

// context is what the entries below an entry belong to.
type context struct {
	path      string    // what names are qualified with
	aggregate rawTypeNo // whose members they are
	array     rawTypeNo // whose dimensions they are
	scope     rawScopeNo
	common    bool // a block that several units may name
	ignored   bool // variables belong to something without code
}

// walk reads the entries of a unit. Ranges of code and addresses are in linked.
func (r *reader) walk(u *dwarf.Unit, s, linked *dwarf.Sections, number types.UnitNo) error {
	d := &unitWalk{reader: r, u: u, s: s, linked: linked, number: number, begin: len(r.types)}
	if d.fortran = dwarf.Language(u.Attrs[debugdwarf.AttrLanguage].Uint) == "Fortran"; d.fortran {
		d.first = 1
	}
	e := &d.entry
	set := func(attr debugdwarf.Attr, v dwarf.Value) { e.set(attr, v, u) }
	w := dwarf.NewWalk(s, u, context{aggregate: types.None, array: types.None})
	for w.Next() {
		tag := w.Entry.Tag
		if of(tag) == nothing {
			w.Skip()
			continue
		}
		*e = newEntry(tag, s.Base+w.Offset)
		if !w.Attributes(set) {
			continue
		}
		w.Below = d.take(e, w.Here)
		if w.Entry.Children && leaf(tag) && e.sibling > w.Offset-u.Offset && e.sibling <= u.Size {
			w.SkipTo(e.sibling)
		}
	}
	return w.Err
}

type unitWalk struct {
	*reader
	u         *dwarf.Unit
	s, linked *dwarf.Sections
	number    types.UnitNo // of the unit's name
	fortran   bool
	first     int64 // index of arrays
	begin     int   // of the unit's types
	entry     entry
}

// role is what an entry is to the table.
type role uint8

const (
	nothing role = iota
	aType
	aMember
	aVariable
	aScope
	aSpace // qualifies the names in it
	anExtent
)

func of(tag debugdwarf.Tag) role {
	switch tag {
	case debugdwarf.TagBaseType, debugdwarf.TagStringType, debugdwarf.TagEnumerationType, debugdwarf.TagPointerType, debugdwarf.TagReferenceType, debugdwarf.TagRvalueReferenceType, debugdwarf.TagConstType,
		debugdwarf.TagVolatileType, debugdwarf.TagRestrictType, debugdwarf.TagAtomicType, debugdwarf.TagTypedef, debugdwarf.TagTemplateAlias, debugdwarf.TagArrayType, debugdwarf.TagStructType,
		debugdwarf.TagClassType, debugdwarf.TagInterfaceType, debugdwarf.TagUnionType, debugdwarf.TagSubroutineType, debugdwarf.TagPtrToMemberType, debugdwarf.TagUnspecifiedType,
		debugdwarf.TagSetType, debugdwarf.TagFileType, debugdwarf.TagPackedType, debugdwarf.TagSharedType, debugdwarf.TagImmutableType:
		return aType
	case debugdwarf.TagMember, debugdwarf.TagInheritance:
		return aMember
	case debugdwarf.TagVariable, debugdwarf.TagFormalParameter:
		return aVariable
	case debugdwarf.TagSubprogram, debugdwarf.TagInlinedSubroutine, debugdwarf.TagLexDwarfBlock, debugdwarf.TagTryDwarfBlock, debugdwarf.TagCatchDwarfBlock:
		return aScope
	case debugdwarf.TagNamespace, debugdwarf.TagModule, debugdwarf.TagCommonDwarfBlock, debugdwarf.TagVariant, debugdwarf.TagVariantPart:
		return aSpace
	case debugdwarf.TagSubrangeType:
		return anExtent
	case debugdwarf.TagCallSite, dwarf.TagGNUCallSite: // to ignore the entries below
		return aSpace
	}
	return nothing
}

// leaf reports whether no entry below one of this tag is wanted.
func leaf(tag debugdwarf.Tag) bool {
	switch tag {
	case debugdwarf.TagEnumerationType, debugdwarf.TagSubroutineType, debugdwarf.TagCallSite, dwarf.TagGNUCallSite:
		return true
	}
	return false
}

// take adds an entry, and returns what the entries below it belong to.
func (w *unitWalk) take(e *entry, here context) context {
	switch of(e.tag) {
	case aType:
		return w.addType(e, here)
	case aMember:
		w.addMember(e, here)
		here.aggregate, here.array = types.None, types.None
	case aVariable:
		w.addVariable(e, here)
		here.ignored, here.aggregate, here.array = true, types.None, types.None
	case aScope:
		return w.addScope(e, here)
	case anExtent:
		switch {
		case here.array != types.None:
			w.addCount(here.array, e)
		default:
			return w.addType(e, here)
		}
	case aSpace:
		switch e.tag {
		case debugdwarf.TagNamespace:
			name := w.textOf(w.s, w.u, e.name)
			if name == "" && e.origin.Form == 0 {
				name = "(anonymous namespace)"
			}
			here.path = w.joined(here.path, name)
			here.aggregate = types.None
		case debugdwarf.TagModule:
			here.path = w.joined(here.path, w.textOf(w.s, w.u, e.name))
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
		if x := &w.signed[key&^bySignature]; x.unit == 0 {
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

// signedType is the type of a unit of types.
type signedType struct {
	key  uint64       // 0 if it was not found
	unit types.UnitNo // the first one that refers to it
}

// bySignature marks a key that is the number of a signature, not an offset.
const bySignature = 1 << 63

func (r *reader) signatureKey(signature uint64) uint64 {
	key, ok := r.signatures[signature]
	if !ok {
		key = bySignature | uint64(len(r.signatures))
		r.signatures[signature] = key
		r.signed = append(r.signed, signedType{})
	}
	return key
}
