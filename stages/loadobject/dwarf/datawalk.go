package dwarf

// dataPlace is what the entries below an entry belong to.
type dataPlace struct {
	path      string // what names are qualified with
	aggregate int32  // number of the type whose members they are, -1 for none
	array     int32  // number of the type whose dimensions they are, -1 for none
	scope     int32  // 0 outside of functions
	common    bool   // a block that several units may name
	ignored   bool   // variables are those of something that has no code
}

// walk reads the entries of a unit. Ranges of code and addresses are in linked.
func (r *dataReader) walk(u *unit, s, linked *sections, number int32) error {
	d := &dataWalk{dataReader: r, u: u, s: s, linked: linked, number: number, begin: len(r.types)}
	if d.fortran = language(u.attrs[attrLanguage].u) == "Fortran"; d.fortran {
		d.first = 1
	}
	e := &d.entry
	set := func(attr uint32, v value) { e.set(attr, v, u) }
	w := walkOf(s, u, dataPlace{aggregate: -1, array: -1})
	for w.next() {
		tag := w.entry.tag
		if of(tag) == nothing {
			w.skip()
			continue
		}
		*e = newDataEntry(tag, s.base+w.offset)
		if !w.attributes(set) {
			continue
		}
		w.below = d.take(e, w.here)
		if w.entry.children && leaf(tag) && e.sibling > w.offset-u.offset && e.sibling <= u.size {
			w.skipTo(e.sibling)
		}
	}
	return w.err
}

type dataWalk struct {
	*dataReader
	u         *unit
	s, linked *sections
	number    int32 // of the unit's name
	fortran   bool
	first     int64 // index of arrays
	begin     int   // of the unit's types
	entry     dataEntry
}

// role is what an entry of a tag is here.
type role uint8

const (
	nothing role = iota
	aType
	aMember
	aVariable
	aScope
	aSpace // that names what is in it
	anExtent
)

func of(tag uint64) role {
	switch tag {
	case tagBaseType, tagStringType, tagEnumerationType, tagPointerType, tagReferenceType, tagRvalueType, tagConstType,
		tagVolatileType, tagRestrictType, tagAtomicType, tagTypedef, tagTemplateAlias, tagArrayType, tagStructureType,
		tagClassType, tagInterfaceType, tagUnionType, tagSubroutineType, tagMemberPointer, tagUnspecifiedType,
		tagSetType, tagFileType, tagPackedType, tagSharedType, tagImmutableType:
		return aType
	case tagMember, tagInheritance:
		return aMember
	case tagVariable, tagFormalParameter:
		return aVariable
	case tagSubprogram, tagInlinedSubroutine, tagLexicalBlock, tagTryBlock, tagCatchBlock:
		return aScope
	case tagNamespace, tagModule, tagCommonBlock, tagVariant, tagVariantPart:
		return aSpace
	case tagSubrangeType:
		return anExtent
	case tagCallSite, tagGNUCallSite: // to pass over what is below
		return aSpace
	}
	return nothing
}

// leaf reports whether nothing that is wanted stands below an entry.
func leaf(tag uint64) bool {
	switch tag {
	case tagEnumerationType, tagSubroutineType, tagCallSite, tagGNUCallSite:
		return true
	}
	return false
}

// take adds what an entry says and returns what those below it belong to.
func (w *dataWalk) take(e *dataEntry, here dataPlace) dataPlace {
	switch of(e.tag) {
	case aType:
		return w.addType(e, here)
	case aMember:
		w.addMember(e, here)
		here.aggregate, here.array = -1, -1
	case aVariable:
		w.addVariable(e, here)
		here.ignored, here.aggregate, here.array = true, -1, -1
	case aScope:
		return w.addScope(e, here)
	case anExtent:
		switch {
		case here.array >= 0:
			w.addCount(here.array, e)
		default:
			return w.addType(e, here)
		}
	case aSpace:
		switch e.tag {
		case tagNamespace:
			name := w.textOf(w.s, w.u, e.name)
			if name == "" && e.origin.form == 0 {
				name = "(anonymous namespace)"
			}
			here.path = w.joined(here.path, name)
			here.aggregate = -1
		case tagModule:
			here.path = w.joined(here.path, w.textOf(w.s, w.u, e.name))
		case tagCommonBlock:
			here.common = true
		case tagCallSite, tagGNUCallSite:
			here.ignored = true
		}
	}
	return here
}

// ref returns the key of the entry that an attribute refers to, 0 for none.
func (w *dataWalk) ref(v value) uint64 {
	switch v.form {
	case 0:
		return 0
	case formRefSig8:
		key := w.signatureKey(v.u)
		if x := &w.signed[key&^bySignature]; x.unit == 0 {
			x.unit = w.number
		}
		return key
	case formGNURefAlt, formRefSup4, formRefSup8:
		if w.s.altBase == 0 {
			w.unknown++
			return 0
		}
		return (w.s.altBase + v.u) &^ bySignature
	}
	off, ok := reference(w.u, v)
	if !ok {
		return 0
	}
	return (w.s.base + off) &^ bySignature
}

// signedType is the type of a unit of types.
type signedType struct {
	key  uint64 // 0 when it was not found
	unit int32  // the first one that refers to it
}

// bySignature marks a key that is the number of a unit of types' name.
const bySignature = 1 << 63

func (r *dataReader) signatureKey(signature uint64) uint64 {
	key, ok := r.signatures[signature]
	if !ok {
		key = bySignature | uint64(len(r.signatures))
		r.signatures[signature] = key
		r.signed = append(r.signed, signedType{})
	}
	return key
}
