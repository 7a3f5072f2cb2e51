package build

import (
	"bytes"
	debugdwarf "debug/dwarf"
	"sort"
	"strings"

	"stackmill/internal/bytereader"
	"stackmill/stages/loadobject/dwop"
	"stackmill/stages/loadobject/types"
)

// rawType is a type with the attributes of its entry.
type rawType struct {
	key, elem  uint64
	name       string     // qualified with namespaces and classes
	size       int64      // -1 if absent
	scope      rawScopeNo // function that declares it
	around     rawTypeNo  // the enclosing aggregate
	unit       types.UnitNo
	first      int32 // its first member; of an array: its first dimension in reader.counts
	parts      int32 // number of members or dimensions
	kind       types.Kind
	float      bool
	complex    bool
	declared   bool // a declaration
	descriptor bool // an array's descriptor
}

// rawMember is a member with the attributes of its entry.
type rawMember struct {
	owner     rawTypeNo
	name      string
	typ       uint64
	offset    int64
	bits      int64
	bitOffset int64 // DW_AT_bit_offset, up to DWARF 3; else absent
	dataBit   int64
	size      int64 // bytes of a bit field's storage
	base      bool
}

// kinds maps tags to kinds of types. A raw type of kind Void is the same as its element type.
var kinds = map[debugdwarf.Tag]types.Kind{
	debugdwarf.TagBaseType: types.Base, debugdwarf.TagStringType: types.Base, debugdwarf.TagSubrangeType: types.Base, debugdwarf.TagSetType: types.Base,
	debugdwarf.TagFileType: types.Base, debugdwarf.TagEnumerationType: types.Enumeration, debugdwarf.TagPointerType: types.Pointer,
	debugdwarf.TagReferenceType: types.Reference, debugdwarf.TagRvalueReferenceType: types.Reference, debugdwarf.TagConstType: types.Const,
	debugdwarf.TagVolatileType: types.Volatile, debugdwarf.TagRestrictType: types.Restrict, debugdwarf.TagAtomicType: types.Atomic,
	debugdwarf.TagTypedef: types.Typedef, debugdwarf.TagTemplateAlias: types.Typedef, debugdwarf.TagArrayType: types.Array,
	debugdwarf.TagStructType: types.Structure, debugdwarf.TagClassType: types.Class, debugdwarf.TagInterfaceType: types.Class,
	debugdwarf.TagUnionType: types.Union, debugdwarf.TagSubroutineType: types.Subroutine, debugdwarf.TagPtrToMemberType: types.MemberPointer,
	debugdwarf.TagUnspecifiedType: types.Unspecified, debugdwarf.TagImmutableType: types.Const, debugdwarf.TagPackedType: types.Void, debugdwarf.TagSharedType: types.Void,
}

// isType has the tags in kinds. It is an array, because it is read for every entry.
var isType = func() (list [256]bool) {
	for tag := range kinds {
		list[tag] = true
	}
	return list
}()

// The encodings of floating-point numbers (DW_ATE, DWARF 5 section 7.8).
const (
	encodingComplex   = 0x03
	encodingFloat     = 0x04
	encodingImaginary = 0x09
	encodingDecimal   = 0x0f
)

// addType adds the type of an entry and returns the context of the entries below it.
func (w *unitWalk) addType(e *entry, here context) context {
	around := here.aggregate
	here.aggregate, here.array = types.None, types.None
	if !w.fits(len(w.types)) {
		return here
	}
	t := rawType{key: e.key, elem: w.ref(e.Get(debugdwarf.AttrType)), size: e.number(debugdwarf.AttrByteSize, -1),
		scope: here.scope, around: around, unit: w.number, kind: kinds[e.tag],
		declared: e.has(debugdwarf.AttrDeclaration), descriptor: e.Get(debugdwarf.AttrDataLocation).Form != 0}
	n := rawTypeNo(len(w.types))
	t.name = w.text(e, debugdwarf.AttrName)
	switch t.kind {
	case types.Base:
		w.baseType(&t, e)
	case types.Pointer, types.Reference:
		t.name = ""
		if t.size < 0 {
			t.size = int64(w.u.AddrSize)
		}
	case types.Structure, types.Class, types.Union:
		t.name = w.typeName(t.name, e, here)
		if t.elem = w.ref(e.Get(debugdwarf.AttrSignature)); t.elem != 0 {
			t.declared = true
		}
		here.path, here.aggregate = t.name, n
	case types.Enumeration, types.Typedef:
		t.name = w.typeName(t.name, e, here)
		if key := w.ref(e.Get(debugdwarf.AttrSignature)); key != 0 {
			t.kind, t.elem = types.Void, key
		}
	case types.Array:
		t.name, t.first = "", int32(len(w.counts))
		here.array = n
	case types.Const, types.Volatile, types.Restrict, types.Atomic, types.Subroutine, types.MemberPointer:
		t.name = ""
	}
	if w.u.Signature != 0 && e.key == w.s.Base+w.u.Offset+w.u.TypeOffset {
		w.signatureTypes[w.signatureKey(w.u.Signature)&^bySignature].key = e.key
	}
	w.types = append(w.types, t)
	return here
}

// complexNames maps the sizes of complex numbers to their names: clang uses one name for all sizes.
var complexNames = map[int64]string{8: "complex float", 16: "complex double", 32: "complex long double"}

// baseType sets the properties of a base type.
func (w *unitWalk) baseType(t *rawType, e *entry) {
	t.elem, t.name = 0, baseName(t.name)
	encoding := e.Get(debugdwarf.AttrEncoding).Uint
	switch {
	case t.name == "" && e.tag == debugdwarf.TagStringType:
		t.name = "character"
	case t.name == "" && e.tag == debugdwarf.TagSubrangeType:
		t.kind, t.elem = types.Void, w.ref(e.Get(debugdwarf.AttrType))
	case t.name == "complex" && encoding == encodingComplex:
		t.name = complexNames[t.size]
	}
	switch encoding {
	case encodingComplex, encodingFloat, encodingImaginary, encodingDecimal:
		t.float, t.complex = true, encoding == encodingComplex
	}
}

// typeName returns the qualified name of a type; if it was declared before, that of the
// declaration. Fortran names are not qualified with modules.
func (w *unitWalk) typeName(name string, e *entry, here context) string {
	if outside := w.declaration(w.ref(e.origin())); outside != "" {
		return outside
	}
	if w.fortran {
		return name
	}
	return w.qualify(here.path, name)
}

// declaration returns the name of the type with a key that was read before in this unit, empty if
// there is none.
func (w *unitWalk) declaration(key uint64) string {
	list := w.types[w.begin:]
	i := sort.Search(len(list), func(i int) bool { return list[i].key >= key })
	if i == len(list) || list[i].key != key {
		return ""
	}
	return list[i].name
}

func (w *unitWalk) addMember(e *entry, here context) {
	if e.tag == debugdwarf.TagMember && (e.has(debugdwarf.AttrDeclaration) || e.has(debugdwarf.AttrExternal)) {
		w.addVariable(e, here) // a static member
		return
	}
	offset, ok := e.memberOffset()
	if here.aggregate == types.None || !ok || e.has(debugdwarf.AttrVirtuality) || !w.fits(len(w.members)) {
		return
	}
	m := rawMember{owner: here.aggregate, typ: w.ref(e.Get(debugdwarf.AttrType)), offset: offset,
		bits: e.number(debugdwarf.AttrBitSize, 0), bitOffset: e.number(debugdwarf.AttrBitOffset, absent),
		dataBit: e.number(debugdwarf.AttrDataBitOffset, -1), size: e.number(debugdwarf.AttrByteSize, -1),
		base: e.tag == debugdwarf.TagInheritance}
	if !m.base {
		m.name = w.text(e, debugdwarf.AttrName)
	}
	w.members = append(w.members, m)
}

func (w *unitWalk) addCount(array rawTypeNo, e *entry) {
	t := &w.types[array]
	if t.descriptor {
		for _, bound := range []debugdwarf.Attr{debugdwarf.AttrLowerBound, debugdwarf.AttrUpperBound} {
			t.size = max(t.size, w.reach(e.Get(bound).Bytes))
		}
	}
	if int(t.first+t.parts) != len(w.counts) || !w.fits(len(w.counts)) {
		return
	}
	t.parts++
	w.counts = append(w.counts, e.extent(w.first))
}

// reach returns the number of bytes from the descriptor's start up to the last one that an
// expression reads.
func (w *unitWalk) reach(expression []byte) (size int64) {
	c := bytereader.New(expression, w.s.Order)
	for {
		i := bytes.Index(c.Rest, []byte{dwop.PushObjectAddress, dwop.PlusUconst})
		if i < 0 {
			return size
		}
		c.Bytes(uint64(i + 2))
		if n := c.ULEB(); n < 1<<16 {
			size = max(size, int64(n)+int64(w.u.AddrSize))
		}
	}
}

// baseName returns the name of a base type of C as it is written in sources: compilers order the
// words differently, and some omit `int`.
func baseName(name string) string {
	words := strings.Fields(name)
	if len(words) < 2 {
		return name
	}
	count := map[string]int{"long": 0, "short": 0, "unsigned": 0, "signed": 0, "char": 0, "__int128": 0, "int": 0}
	for _, word := range words {
		if _, known := count[word]; !known {
			return name
		}
		count[word]++
	}
	var out []string
	put := func(word string, times int) {
		for range times {
			out = append(out, word)
		}
	}
	put("unsigned", min(count["unsigned"], 1))
	switch {
	case count["char"] > 0:
		if count["unsigned"] == 0 {
			put("signed", min(count["signed"], 1))
		}
		put("char", 1)
	case count["__int128"] > 0:
		put("__int128", 1)
	case count["short"] > 0:
		put("short", 1)
	case count["long"] == 0:
		put("int", 1)
	}
	put("long", min(count["long"], 2))
	return strings.Join(out, " ")
}
