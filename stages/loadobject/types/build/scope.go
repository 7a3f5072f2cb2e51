package build

import (
	debugdwarf "debug/dwarf"
	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/types"
)

// rawScope is a function or a block with the attributes of its entry.
type rawScope struct {
	key            uint64
	origin, typ    uint64
	name           string // as in the source; qualified in Fortran
	linkage        string // empty if absent
	parent         rawScopeNo
	around         rawScopeNo // the innermost enclosing function
	unit           types.UnitNo
	firstRange     int32 // index in reader.code
	rangeCount     int32
	firstFrameBase int32 // index in reader.places
	frameBaseCount int32
	function       bool
	inlined        bool
	external       bool
	fortran        bool
}

func (w *unitWalk) addScope(e *entry, here context) context {
	here.aggregate, here.array, here.common = types.None, types.None, false
	sc := rawScope{key: e.key, origin: w.ref(e.origin()), parent: here.scope, unit: w.number,
		external: e.has(debugdwarf.AttrExternal),
		function: e.tag == debugdwarf.TagSubprogram || e.tag == debugdwarf.TagInlinedSubroutine, inlined: e.tag == debugdwarf.TagInlinedSubroutine}
	if sc.around = here.scope; !w.scopes[here.scope].function {
		sc.around = w.scopes[here.scope].around
	}
	sc.firstRange = int32(len(w.code))
	w.scratch = w.linked.Ranges(w.scratch[:0], w.u, e.Attrs)
	for _, x := range w.scratch {
		if w.isCode(x) {
			w.code = append(w.code, x)
		}
	}
	sc.rangeCount = int32(len(w.code)) - sc.firstRange
	if !sc.function && sc.rangeCount == 0 {
		return here // its variables belong to the enclosing scope
	}
	if sc.function {
		sc.typ = w.ref(e.Get(debugdwarf.AttrType))
		sc.name = w.text(e, debugdwarf.AttrName)
		sc.linkage = w.text(e, debugdwarf.AttrLinkageName, dwarf.AttrMIPSLinkageName)
		if sc.fortran = w.fortran; w.fortran {
			sc.name = w.qualify(here.path, sc.name)
			here.path = sc.name
		} else {
			here.path = ""
		}
	}
	if e.tag == debugdwarf.TagSubprogram {
		sc.parent, sc.around = 0, 0
		here.ignored = e.has(debugdwarf.AttrDeclaration)
	}
	if sc.rangeCount > 0 && e.tag == debugdwarf.TagSubprogram {
		_, sc.firstFrameBase, sc.frameBaseCount = w.placesOf(e.Get(debugdwarf.AttrFrameBase))
	}
	if w.fits(len(w.scopes)) {
		here.scope = rawScopeNo(len(w.scopes))
		w.scopes = append(w.scopes, sc)
	}
	return here
}

// addPlace appends a place to the list that begins at index first. If the last place differs only
// in its range, and the ranges are adjacent, it extends that one: compilers split ranges for other
// reasons, too.
func (r *reader) addPlace(first int, p types.Place) {
	if n := len(r.places); n > first && p.PieceSize == 0 {
		last := r.places[n-1]
		if last.High == p.Low {
			last.Low, last.High = p.Low, p.High
			if last == p {
				r.places[n-1].High = p.High
				return
			}
		}
	}
	if r.fits(len(r.places)) {
		r.places = append(r.places, p)
	}
}

// placesOf evaluates a location attribute. It adds the places, or returns a static address.
func (w *unitWalk) placesOf(location dwarf.Value) (at staticAddress, first, n int32) {
	first = int32(len(w.places))
	single := w.s.Location(w.u, w.linked, location, func(where dwarf.Range, expression []byte) {
		at = evaluate(w.linked, w.u, expression, func(p types.Place) {
			p.Low, p.High = where.Low, where.High
			w.addPlace(int(first), p)
		})
	})
	if !single {
		at = staticAddress{}
	}
	return at, first, int32(len(w.places)) - first
}

// fits reports whether a list of n elements may get another one.
func (r *reader) fits(n int) bool {
	if n < maxData {
		return true
	}
	r.full = true
	return false
}

// rawVariable is a variable with the attributes of its entry.
type rawVariable struct {
	key         uint64
	origin, typ uint64
	name        string
	linkage     string // a declaration's; empty if the same as its name
	address     uint64
	unit        types.UnitNo
	scope       rawScopeNo
	firstPlace  int32 // index in reader.places
	placeCount  int32
	external    bool
	static      bool // it has an address
	thread      bool // thread-local
	declared    bool // a declaration
}

func (w *unitWalk) addVariable(e *entry, here context) {
	if here.ignored {
		return
	}
	external := e.has(debugdwarf.AttrExternal)
	v := rawVariable{key: e.key, origin: w.ref(e.origin()), typ: w.ref(e.Get(debugdwarf.AttrType)), unit: w.number,
		scope: here.scope, external: external || here.common}
	at, firstPlace, placeCount := w.placesOf(e.Get(debugdwarf.AttrLocation))
	v.firstPlace, v.placeCount = firstPlace, placeCount
	if at.ok && (at.thread || w.isData(at.address)) {
		v.static, v.thread, v.address = true, at.thread, at.address
		if block := w.Object.TLS; at.thread && at.address >= block.MemSize && at.address-block.Address < block.MemSize {
			v.address -= block.Address // in split units, GCC gives the address of the initial values
		}
	}
	if !v.static && v.placeCount == 0 && w.scopes[here.scope].rangeCount > 0 || !w.fits(len(w.variables)) {
		return // optimized away
	}
	v.name = w.text(e, debugdwarf.AttrName)
	if here.scope == 0 || !w.fortran {
		v.name = w.qualify(here.path, v.name)
	}
	if here.common {
		v.scope = 0
	}
	if v.declared = e.has(debugdwarf.AttrDeclaration) && external; v.declared {
		v.linkage = w.text(e, debugdwarf.AttrLinkageName, dwarf.AttrMIPSLinkageName)
	}
	w.variables = append(w.variables, v)
}
