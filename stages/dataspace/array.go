package dataspace

import (
	"slices"

	"stackmill/stages/loadobject/types"
)

// resolveVariableIndex finds what the unknown index in an address selects, as resolveIndex does, but
// also in a variable. If the variable is an array of aggregates, it searches one element.
func (t typeTable) resolveVariableIndex(at value, use types.Use) (value, bool) {
	if at.variable == types.None {
		return t.resolveIndex(at, use)
	}
	e := t.element(at.typ)
	if !t.Types[e].Kind.Aggregate() || t.Types[e].Size <= 0 {
		at.step = 0
		return at, true
	}
	part := at
	part.typ, part.variable = e, types.None
	if e != t.Strip(at.typ) {
		part.offset = modulo(at.offset, t.Types[e].Size)
	}
	in, ok := t.resolveIndex(part, use)
	at.offset += in.offset - part.offset
	if ok {
		at.step = 0
	}
	return at, ok
}

// resolveIndex finds what the unknown index in an address selects: a whole aggregate of an array of
// them, or an element of an array inside the aggregate. It returns false if the access fits neither
// or several.
func (t typeTable) resolveIndex(at value, use types.Use) (value, bool) {
	typ := t.Strip(at.typ)
	if !t.Types[typ].Kind.Aggregate() {
		at.step = 0
		return t.withIndex(at), true
	}
	if at.step == 0 {
		return at, true
	}
	s := arraySearch{t: t, at: at, use: use, left: maxEmbedded}
	s.find(typ, 0)
	if at.step == unknownStep {
		return s.resolveComputed()
	}
	return s.resolveCounted()
}

// arraySearch collects the arrays inside an aggregate whose elements the index in an address may
// select.
type arraySearch struct {
	t     typeTable
	at    value
	use   types.Use
	found []indexedArray
	left  int // number of members that may still be searched
}

// indexedArray is an array at bytes [start, end) of an aggregate. offset is the offset that the
// code accesses if the index is 0.
type indexedArray struct {
	start, end, offset int64
	stride             int64
}

// find adds the arrays in an aggregate of type typ, which lies at offset base of the outermost one.
func (s *arraySearch) find(typ types.TypeNo, base int64) {
	t := s.t
	x := &t.Types[typ]
	for m := x.First; m < x.End(); m++ {
		if s.left--; s.left < 0 {
			return
		}
		member := &t.Members[m]
		start, of := base+member.Offset, t.Strip(member.Type)
		switch {
		case t.Types[of].Kind == types.Array:
			s.add(of, start)
		case t.Types[of].Kind.Aggregate():
			s.find(of, start)
		}
	}
}

// add adds an array if the index's step and the access fit its elements. If these are aggregates,
// it searches them for arrays, too.
func (s *arraySearch) add(array types.TypeNo, start int64) {
	t := s.t
	e := t.element(array)
	x := &t.Types[e]
	if x.Size <= 0 {
		return
	}
	a := indexedArray{start: start, end: start + t.Types[array].Size, offset: start, stride: x.Size}
	whole := array
	if t.Types[array].Count < 0 || t.Types[array].Size <= 0 { // of any length
		a.end, whole = 1<<62, e
	}
	inner := modulo(s.at.offset-start, x.Size)
	if x.Kind.Aggregate() {
		a.offset += inner
		if s.fitsStep(x.Size) && t.fitsAt(e, inner, s.use) {
			s.found = append(s.found, a)
		}
		first := start
		if s.at.offset >= start && s.at.offset < a.end {
			first = s.at.offset - inner
		}
		s.find(e, first)
		return
	}
	_, fit := t.DescendHint(whole, inner, s.use, types.Hint{})
	if s.fitsStep(x.Size) && (fit >= types.FitSize || fit == types.FitPart && s.at.step > 1) && (inner == 0 || s.at.step == unknownStep || fit == types.FitPart) {
		if s.at.step == unknownStep {
			inner = 0
		}
		a.offset += inner
		s.found = append(s.found, a)
	}
}

// fitsStep reports whether the index may select elements of this size.
func (s *arraySearch) fitsStep(size int64) bool {
	return s.at.step == unknownStep || s.at.step%size == 0
}

// fitsAt reports whether an access has the size of the member at an offset of a type, or accesses
// bit fields there.
func (t typeTable) fitsAt(typ types.TypeNo, offset int64, use types.Use) bool {
	_, fit := t.DescendHint(typ, offset, use, types.Hint{})
	return fit >= types.FitSize || t.SharesBits(typ, offset, use.Size)
}

// resolveComputed handles an index that was computed in an unknown way. It selects whole aggregates
// if the access fits the member at its offset, else elements of some array.
func (s *arraySearch) resolveComputed() (value, bool) {
	at := s.at
	within, first := false, false
	for _, a := range s.found {
		within = within || a.start <= at.offset && at.offset < a.end
		first = first || a.offset == at.offset // no constant was added to the index
	}
	at.step = 0
	switch {
	case len(s.found) == 0:
		return s.t.withIndex(at), true
	case s.use.Size >= vectorSize: // fits elements of any type
	case first, within && len(s.found) == 1:
		return at, true
	case len(s.found) == 1 && !s.t.fitsAt(at.typ, at.offset, s.use):
		at.offset = s.found[0].offset
		return at, true
	}
	return s.at, false
}

// resolveCounted handles an index with a known step, so a known size of elements. A constant in the
// index, as in a[i-1], can move the offset before or behind the array.
func (s *arraySearch) resolveCounted() (value, bool) {
	at, size := s.at, int64(s.use.Size)
	holds := func(a indexedArray) bool { return a.start <= at.offset && at.offset < a.end }
	after := slices.IndexFunc(s.found, func(a indexedArray) bool { return a.offset == at.offset+max(size, a.stride) })
	before := slices.ContainsFunc(s.found, func(a indexedArray) bool { return a.end == a.start+a.stride && a.offset+a.stride == at.offset })
	at.step = 0
	switch in := slices.IndexFunc(s.found, holds); {
	case in >= 0:
		first := at.offset == s.found[in].start && size < vectorSize
		if (after < 0 || first) && !before {
			return at, true
		}
	case size >= vectorSize:
	case after >= 0 && !before:
		at.offset = s.found[after].offset
		return at, true
	case len(s.found) > 0 && !slices.ContainsFunc(s.found, func(a indexedArray) bool { return a.offset != s.found[0].offset }):
		at.offset = s.found[0].offset
		return at, true
	}
	return s.at, false
}

// vectorSize is the size in bytes of the smallest vector register: an access of at least this size
// may load several elements of any type.
const vectorSize = 16
