package dwarf

import "fmt"

// The tags of types, variables and scopes (DWARF 5 section 7.5.3).
const (
	tagFormalParameter = 0x05
	tagImported        = 0x08
	tagLexicalBlock    = 0x0b
	tagMember          = 0x0d
	tagPointerType     = 0x0f
	tagReferenceType   = 0x10
	tagStringType      = 0x12
	tagTypedef         = 0x16
	tagVariant         = 0x19
	tagCommonBlock     = 0x1a
	tagInheritance     = 0x1c
	tagMemberPointer   = 0x1f
	tagSetType         = 0x20
	tagSubrangeType    = 0x21
	tagBaseType        = 0x24
	tagCatchBlock      = 0x25
	tagConstType       = 0x26
	tagFileType        = 0x29
	tagPackedType      = 0x2d
	tagTryBlock        = 0x32
	tagVariantPart     = 0x33
	tagVariable        = 0x34
	tagVolatileType    = 0x35
	tagRestrictType    = 0x37
	tagInterfaceType   = 0x38
	tagNamespace       = 0x39
	tagUnspecifiedType = 0x3b
	tagSharedType      = 0x40
	tagRvalueType      = 0x42
	tagTemplateAlias   = 0x43
	tagAtomicType      = 0x47
	tagImmutableType   = 0x4b
)

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
	w := &dataWalk{dataReader: r, u: u, s: s, linked: linked, number: number}
	w.begin = len(r.types)
	w.fortran = language(u.attrs[attrLanguage].u) == "Fortran"
	if w.fortran {
		w.first = 1
	}
	abbrevs := s.abbrevs(u.abbrevs, u.format)
	c := u.entries
	here := dataPlace{aggregate: -1, array: -1}
	var around []dataPlace
	for len(c.Rest) > 0 {
		offset := u.at(&c)
		code := c.ULEB()
		if code == 0 {
			if len(around) == 0 {
				break
			}
			here, around = around[len(around)-1], around[:len(around)-1]
			continue
		}
		a := abbrevs.get(code)
		if a == nil {
			return fmt.Errorf("the entry at offset %d has no abbreviation", offset)
		}
		below := here
		if of(a.tag) == nothing {
			if err := u.format.skip(&c, a); err != nil {
				return err
			}
		} else {
			e := &w.entry
			if err := e.read(&c, a, u, s.base+offset); err != nil {
				return err
			}
			if c.Short {
				break
			}
			below = w.take(e, here)
			if a.children && leaf(a.tag) && e.sibling > offset-u.offset && e.sibling <= u.size {
				c.Bytes(e.sibling - (u.at(&c) - u.offset))
				continue
			}
		}
		if a.children {
			if len(around) == maxNested {
				return fmt.Errorf("the entry at offset %d is one of more than %d within each other", offset, maxNested)
			}
			around = append(around, here)
			here = below
		}
	}
	if c.Short {
		return errShort
	}
	return nil
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
