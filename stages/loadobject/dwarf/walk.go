package dwarf

import (
	"fmt"
	"slices"

	"stackmill/internal/bytereader"
)

// maxNested bounds the entries within each other: each level of generated code
// takes a few, and each byte of a hostile file could be one more.
const maxNested = 1 << 14

// Walk passes over the entries of a unit below its first one, in their order:
//
//	w := WalkOf(s, u, outside)
//	for w.Next() {
//		w.Skip() // or Attributes, or SkipTree
//	}
//	return w.Err
//
// A T is what an entry belongs to, given by the entries around it.
type Walk[T any] struct {
	Entry  *Abbrev
	Offset uint64 // of the entry in .debug_info
	Here   T      // what the entry belongs to
	Below  T      // what the entries below it belong to: Here, unless the caller says otherwise
	Err    error  // what ended the walk early

	Unit    *Unit
	abbrevs *abbrevs
	rest    bytereader.Reader
	around  []T
	skipped bool // the entries below this one are passed over
}

// WalkOf starts a walk whose outermost entries belong to outside.
func WalkOf[T any](s *Sections, u *Unit, outside T) Walk[T] {
	return Walk[T]{Below: outside, Here: outside, Unit: u, abbrevs: s.abbrevs(u.abbrevs, u.Format), rest: u.entries}
}

// WalkFrom starts a walk at the entry of the unit at an offset in .debug_info. The walk goes
// on with what follows the entry, at depth 0.
func WalkFrom[T any](s *Sections, u *Unit, off uint64, outside T) Walk[T] {
	w := WalkOf(s, u, outside)
	n, at := uint64(len(w.rest.Rest)), off-u.Offset
	if at <= u.Size && u.Size-at <= n {
		w.rest.Bytes(n - (u.Size - at))
	} else {
		w.rest.Rest = nil
	}
	return w
}

// Depth returns how many entries of the walk are around the current one.
func (w *Walk[T]) Depth() int { return len(w.around) }

// HasInlined reports whether an entry of the unit may be an inlined subroutine.
func (w *Walk[T]) HasInlined() bool { return w.abbrevs.inlined }

// Next goes to the next entry; false at the unit's end or after an error.
func (w *Walk[T]) Next() bool {
	if w.Err != nil || !w.enter() {
		return false
	}
	for len(w.rest.Rest) > 0 {
		w.Offset = w.position()
		code := w.rest.ULEB()
		if code == 0 {
			n := len(w.around)
			if n == 0 {
				break
			}
			w.Here, w.around = w.around[n-1], w.around[:n-1]
			continue
		}
		if w.Entry = w.abbrevs.get(code); w.Entry == nil {
			w.Err = fmt.Errorf("the entry at offset %d has no abbreviation", w.Offset)
			return false
		}
		w.Below, w.skipped = w.Here, false
		return true
	}
	if w.rest.Short {
		w.Err = ErrShort
	}
	return false
}

// enter goes below the current entry if it has entries there.
func (w *Walk[T]) enter() bool {
	if w.Entry == nil || !w.Entry.Children || w.skipped {
		return true
	}
	if len(w.around) == maxNested {
		w.Err = fmt.Errorf("the entry at offset %d is nested more than %d deep", w.Offset, maxNested)
		return false
	}
	w.around = append(w.around, w.Here)
	w.Here = w.Below
	return true
}

// Attributes passes the entry's attributes to set, and reports whether all could
// be read.
func (w *Walk[T]) Attributes(set func(name uint32, v Value)) bool {
	w.Err = w.Unit.Format.Attributes(&w.rest, w.Entry, set)
	return w.Err == nil && !w.rest.Short
}

// Skip passes over the entry's attributes.
func (w *Walk[T]) Skip() { w.Err = w.Unit.Format.skip(&w.rest, w.Entry) }

// SkipTree passes over the entry and all entries below it; false if the entry lacks
// the reference to its sibling.
func (w *Walk[T]) SkipTree() bool {
	if !w.Entry.Children || !w.Entry.sibling {
		return false
	}
	var next uint64
	w.Err = w.Unit.Format.Attributes(&w.rest, w.Entry, func(name uint32, v Value) {
		if name == AttrSibling {
			next = w.Unit.Sibling(v)
		}
	})
	if w.Err == nil {
		w.SkipTo(next)
	}
	return true
}

// SkipTo goes to the entry's sibling, which is at an offset in the unit, once the
// entry's attributes are read.
func (w *Walk[T]) SkipTo(sibling uint64) {
	here := w.position() - w.Unit.Offset
	if sibling < here || sibling > w.Unit.Size {
		w.Err = fmt.Errorf("the entry that ends at offset %d has its sibling out of place, at %d in the unit", here+w.Unit.Offset, sibling)
		return
	}
	w.rest.Bytes(sibling - here)
	w.skipped = true
}

// position returns the offset in .debug_info of what the walk reads next.
func (w *Walk[T]) position() uint64 {
	return w.Unit.Offset + w.Unit.Size - uint64(len(w.rest.Rest))
}

// Sibling returns the offset in the unit that an attribute refers to.
func (u *Unit) Sibling(v Value) uint64 {
	if v.Form == FormRefAddr {
		return v.Uint - u.Offset
	}
	return v.Uint
}

// Enclosing finds the entries around others. It passes each of the wanted offsets in
// .debug_info, which ascend, at which an entry of the unit starts, with the offsets of the
// entries around it, the outermost first: the unit itself is none. The list is valid until
// the next call.
func (s *Sections) Enclosing(u *Unit, wanted []uint64, found func(off uint64, around []uint64)) {
	w := WalkOf(s, u, uint64(0))
	for len(wanted) > 0 && w.Next() {
		for len(wanted) > 0 && wanted[0] < w.Offset {
			wanted = wanted[1:]
		}
		if len(wanted) > 0 && wanted[0] == w.Offset {
			around := w.around
			if len(around) > 0 {
				around = append(slices.Clone(around[1:]), w.Here)
			}
			found(w.Offset, around)
			wanted = wanted[1:]
		}
		w.Below = w.Offset
		if !w.Entry.Children || !w.Entry.sibling {
			w.Skip()
			continue
		}
		var next uint64
		w.Attributes(func(name uint32, v Value) {
			if name == AttrSibling {
				next = w.Unit.Sibling(v)
			}
		})
		if w.Err == nil && len(wanted) > 0 && wanted[0] >= u.Offset+next {
			w.SkipTo(next)
		}
	}
}

// Codeless reports whether no subroutine can stand below an entry. Local
// classes may hold the code of their methods.
func Codeless(tag uint64, inside bool) bool {
	switch tag {
	case TagClassType, TagStructureType, TagUnionType:
		return !inside
	case TagArrayType, TagEnumerationType, TagSubroutineType, TagCallSite, TagGNUCallSite:
		return true
	}
	return false
}
