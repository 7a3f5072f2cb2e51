package dwarf

import (
	debugdwarf "debug/dwarf"
	"fmt"
	"slices"

	"stackmill/internal/bytereader"
)

// maxNested bounds the nesting of entries. Source code is nested a few levels deep; in a hostile
// file, each byte could add a level.
const maxNested = 1 << 14

// Walk iterates over the entries of a unit below its first one, in their order:
//
//	w := NewWalk(s, u, outside)
//	for w.Next() {
//		w.Skip() // or Attributes, or SkipTree
//	}
//	return w.Err
//
// T is the context of an entry, which the caller derives from the enclosing entries.
type Walk[T any] struct {
	Entry  *Abbrev
	Offset uint64 // of the entry in .debug_info
	Here   T      // context of the entry
	Below  T      // context of the entries below it: Here, unless the caller sets another
	Attrs  Attrs  // of the last entry whose attributes were read
	Err    error  // why the walk ended early

	Unit    *Unit
	abbrevs *abbrevTable
	rest    bytereader.Reader
	around  []T
	skipped bool // SkipTree skipped the entries below this one
}

// NewWalk starts a walk in which outside is the context of the outermost entries.
func NewWalk[T any](s *Sections, u *Unit, outside T) Walk[T] {
	return Walk[T]{Below: outside, Here: outside, Unit: u, abbrevs: s.abbrevTable(u), rest: u.entries}
}

// NewWalkAt starts a walk at depth 0 with the entry at an offset in .debug_info, and continues with
// all entries after it.
func NewWalkAt[T any](s *Sections, u *Unit, off uint64, outside T) Walk[T] {
	w := NewWalk(s, u, outside)
	n, at := uint64(len(w.rest.Rest)), off-u.Offset
	if at <= u.Size && u.Size-at <= n {
		w.rest.Bytes(n - (u.Size - at))
	} else {
		w.rest.Rest = nil
	}
	return w
}

// Depth returns how many entries of the walk enclose the current one.
func (w *Walk[T]) Depth() int { return len(w.around) }

// HasInlined reports whether the unit may contain inlined subroutines.
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

// enter descends to the entries below the current one, if there are any.
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

// Attributes reads the entry's attributes, and reports whether it could read all of them.
func (w *Walk[T]) Attributes() bool {
	w.Attrs, w.Err = w.Unit.Format.Attributes(&w.rest, w.Entry, w.Attrs)
	return w.Err == nil && !w.rest.Short
}

// Skip skips the entry's attributes.
func (w *Walk[T]) Skip() { w.Err = w.Unit.Format.skip(&w.rest, w.Entry) }

// SkipTree skips the entry and all entries below it; false if the entry has no sibling attribute.
func (w *Walk[T]) SkipTree() bool {
	if !w.Entry.Children || !w.Entry.sibling {
		return false
	}
	if next := w.readSibling(); w.Err == nil {
		w.SkipTo(next)
	}
	return true
}

// readSibling reads the entry's attributes and returns its sibling's offset in the unit.
func (w *Walk[T]) readSibling() (next uint64) {
	w.Attributes()
	return w.Unit.Sibling(w.Attrs.Get(debugdwarf.AttrSibling))
}

// SkipTo continues the walk at the entry's sibling, given the sibling's offset in the unit. The
// entry's attributes must have been read before.
func (w *Walk[T]) SkipTo(sibling uint64) {
	here := w.position() - w.Unit.Offset
	if sibling < here || sibling > w.Unit.Size {
		w.Err = fmt.Errorf("the entry that ends at offset %d has an invalid sibling, offset %d in the unit", here+w.Unit.Offset, sibling)
		return
	}
	w.rest.Bytes(sibling - here)
	w.skipped = true
}

// position returns the offset in .debug_info of the next byte to read.
func (w *Walk[T]) position() uint64 {
	return w.Unit.Offset + w.Unit.Size - uint64(len(w.rest.Rest))
}

// Sibling returns the offset in the unit to which a sibling attribute refers, 0 without one.
func (u *Unit) Sibling(v Value) uint64 {
	if v.Form == FormRefAddr {
		return v.Uint - u.Offset
	}
	return v.Uint
}

// Enclosing finds the entries that enclose the entries at wanted: offsets in .debug_info, in
// ascending order. For each wanted entry of the unit, it calls found with the offsets of the
// enclosing entries, outermost first, without the unit's first entry. The list is valid until the
// next call.
func (s *Sections) Enclosing(u *Unit, wanted []uint64, found func(off uint64, around []uint64)) {
	w := NewWalk(s, u, uint64(0))
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
		if next := w.readSibling(); w.Err == nil && len(wanted) > 0 && wanted[0] >= u.Offset+next {
			w.SkipTo(next)
		}
	}
}

// HoldsNoCode reports whether entries below one with this tag are never subroutines with code.
// Inside a subroutine (inside), even a class may have such entries: its methods.
func HoldsNoCode(tag debugdwarf.Tag, inside bool) bool {
	switch tag {
	case debugdwarf.TagClassType, debugdwarf.TagStructType, debugdwarf.TagUnionType:
		return !inside
	case debugdwarf.TagArrayType, debugdwarf.TagEnumerationType, debugdwarf.TagSubroutineType, debugdwarf.TagCallSite, TagGNUCallSite:
		return true
	}
	return false
}
