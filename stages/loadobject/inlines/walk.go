package inlines

import (
	debugdwarf "debug/dwarf"

	"stackmill/stages/loadobject/dwarf"
)

// inlinedSubroutine is the entry of an inlined subroutine, with its attributes.
type inlinedSubroutine struct {
	dwarf.Attrs
	number int // its number in the unit, from 0
	depth  int // 0: inlined into a subprogram
	parent int // number of the enclosing inlined subroutine, -1 at depth 0
}

// subprogram is the entry of a function with code of its own (not inlined), with its attributes.
type subprogram struct {
	dwarf.Attrs
	around uint64 // offset of the enclosing subprogram, 0 for none
}

// scope is what the entries below an entry need to know about it.
type scope struct {
	depth    int
	parent   int
	inside   bool   // the entry is in a subprogram
	below    bool   // the entry is below another one than the unit's
	function uint64 // offset of the subprogram, 0 for none
}

// walkInlined walks over a unit and calls functions: f for each inlined subroutine, parents before
// children; own for each subprogram with code, and own reports whether that is the body of a
// parallel region; outer, with the offset, for each subprogram without code at the top level.
func walkInlined(s *dwarf.Sections, u *dwarf.Unit, f func(inlinedSubroutine), own func(subprogram) (body bool), outer func(off uint64)) error {
	w := dwarf.NewWalk(s, u, scope{parent: -1})
	for number := 0; w.Next(); {
		w.Below.below = true
		switch tag := w.Entry.Tag; {
		case tag == debugdwarf.TagInlinedSubroutine:
			if w.Attributes() {
				f(inlinedSubroutine{w.Attrs, number, w.Here.depth, w.Here.parent})
			}
			w.Below = scope{w.Here.depth + 1, number, true, true, w.Here.function}
			number++
		case tag == debugdwarf.TagSubprogram:
			w.Below = scope{parent: -1, inside: true, below: true, function: w.Offset}
			if !w.Entry.HasOrigin && !w.Entry.MayHaveCode {
				if !w.Here.below {
					outer(w.Offset)
				}
				w.Skip()
				break
			}
			if !w.Attributes() {
				break
			}
			if own(subprogram{w.Attrs, w.Here.function}) {
				w.Below.function = w.Here.function
			}
			if sibling := w.Attrs.Get(debugdwarf.AttrSibling); sibling.Form != 0 && !w.HasInlined() {
				w.SkipTo(u.Sibling(sibling))
			}
		case dwarf.HoldsNoCode(tag, w.Here.inside) && w.SkipTree():
		default:
			w.Skip()
		}
	}
	return w.Err
}
