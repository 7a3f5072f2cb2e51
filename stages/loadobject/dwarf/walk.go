package dwarf

import (
	"fmt"

	"stackmill/stages/loadobject/bytereader"
)

// maxNested bounds the entries within each other: each level of generated code
// takes a few, and each byte of a hostile file could be one more.
const maxNested = 1 << 14

// walk passes over the entries of a unit below its first one, in their order:
//
//	w := walkOf(s, u, outside)
//	for w.next() {
//		w.skip() // or attributes, or skipTree
//	}
//	return w.err
//
// A T says what an entry belongs to, by the entries around it.
type walk[T any] struct {
	entry  *abbrev
	offset uint64 // of the entry in .debug_info
	here   T      // what the entry belongs to
	below  T      // what the entries below it belong to: here, unless the caller says otherwise
	err    error  // what ended the walk before the unit's end

	unit    *unit
	abbrevs *abbrevs
	rest    bytereader.Reader
	around  []T
	skipped bool // the walk has passed the entries below this one
}

// walkOf starts a walk whose outermost entries belong to outside.
func walkOf[T any](s *sections, u *unit, outside T) walk[T] {
	return walk[T]{below: outside, here: outside, unit: u, abbrevs: s.abbrevs(u.abbrevs, u.format), rest: u.entries}
}

// next goes to the next entry; false at the unit's end or after an error.
func (w *walk[T]) next() bool {
	if w.err != nil || !w.enter() {
		return false
	}
	for len(w.rest.Rest) > 0 {
		w.offset = w.position()
		code := w.rest.ULEB()
		if code == 0 {
			n := len(w.around)
			if n == 0 {
				break
			}
			w.here, w.around = w.around[n-1], w.around[:n-1]
			continue
		}
		if w.entry = w.abbrevs.get(code); w.entry == nil {
			w.err = fmt.Errorf("the entry at offset %d has no abbreviation", w.offset)
			return false
		}
		w.below, w.skipped = w.here, false
		return true
	}
	if w.rest.Short {
		w.err = errShort
	}
	return false
}

// enter goes below the current entry if it has entries there.
func (w *walk[T]) enter() bool {
	if w.entry == nil || !w.entry.children || w.skipped {
		return true
	}
	if len(w.around) == maxNested {
		w.err = fmt.Errorf("the entry at offset %d is one of more than %d within each other", w.offset, maxNested)
		return false
	}
	w.around = append(w.around, w.here)
	w.here = w.below
	return true
}

// attributes passes the entry's attributes to set, and reports whether all could
// be read.
func (w *walk[T]) attributes(set func(name uint32, v value)) bool {
	w.err = w.unit.format.attributes(&w.rest, w.entry, set)
	return w.err == nil && !w.rest.Short
}

// skip passes over the entry's attributes.
func (w *walk[T]) skip() { w.err = w.unit.format.skip(&w.rest, w.entry) }

// skipTree passes over the entry and all below it, false if its attributes do not
// say where they end.
func (w *walk[T]) skipTree() bool {
	if !w.entry.children || !w.entry.sibling {
		return false
	}
	var next uint64
	w.err = w.unit.format.attributes(&w.rest, w.entry, func(name uint32, v value) {
		if name == attrSibling {
			next = w.unit.sibling(v)
		}
	})
	if w.err == nil {
		w.skipTo(next)
	}
	return true
}

// skipTo goes from behind the entry's attributes to its sibling, which is at an
// offset in the unit.
func (w *walk[T]) skipTo(sibling uint64) {
	here := w.position() - w.unit.offset
	if sibling < here || sibling > w.unit.size {
		w.err = fmt.Errorf("the entry before offset %d has its sibling at %d of the unit", here+w.unit.offset, sibling)
		return
	}
	w.rest.Bytes(sibling - here)
	w.skipped = true
}

// position returns the offset in .debug_info of what the walk reads next.
func (w *walk[T]) position() uint64 {
	return w.unit.offset + w.unit.size - uint64(len(w.rest.Rest))
}

// sibling returns the offset in the unit that an attribute refers to.
func (u *unit) sibling(v value) uint64 {
	if v.form == formRefAddr {
		return v.u - u.offset
	}
	return v.u
}

// codeless reports whether no subroutine can stand below an entry. Local
// classes may hold the code of their methods.
func codeless(tag uint64, inside bool) bool {
	switch tag {
	case tagClassType, tagStructureType, tagUnionType:
		return !inside
	case tagArrayType, tagEnumerationType, tagSubroutineType, tagCallSite, tagGNUCallSite:
		return true
	}
	return false
}
