package inlines

import (
	debugdwarf "debug/dwarf"

	"stackmill/stages/loadobject/dwarf"
)

// inlinedSubroutine is an inlined subroutine.
type inlinedSubroutine struct {
	number        int // in the unit, from 0
	code          dwarf.CodeAttrs
	origin        dwarf.Value // the function's abstract entry
	file, line    uint64      // of the call; the file by its number in the unit's line table
	discriminator uint64      // distinguishes the calls of a line
	depth         int         // 0: inlined into a subprogram
	parent        int         // number of the enclosing inlined subroutine, -1 at depth 0
}

// subprogram is a function with code that is not inlined.
type subprogram struct {
	code          dwarf.CodeAttrs
	origin        dwarf.Value // its abstract entry, if it has one
	specification dwarf.Value // its declaration, if that is another entry
	line          uint64      // of the declaration, 0 if another entry has it
	sibling       dwarf.Value
	around        uint64 // offset of the enclosing subprogram, 0 for none
}

// scope is the context of the entries below an entry.
type scope struct {
	depth    int
	parent   int
	inside   bool   // in a subprogram
	below    bool   // in any entry but the unit
	function uint64 // offset of the subprogram, 0 for none
}

// walkInlined walks over a unit. It calls f for each inlined subroutine, parents before their
// children; own for each subprogram with code, which reports whether that is the body of a
// parallel region; and outer with the offset of each subprogram without code at the top level.
func walkInlined(s *dwarf.Sections, u *dwarf.Unit, f func(inlinedSubroutine), own func(subprogram) (body bool), outer func(off uint64)) error {
	w := dwarf.NewWalk(s, u, scope{parent: -1})
	for number := 0; w.Next(); {
		w.Below.below = true
		switch tag := w.Entry.Tag; {
		case tag == debugdwarf.TagInlinedSubroutine:
			in := inlinedSubroutine{number: number, depth: w.Here.depth, parent: w.Here.parent}
			if w.Attributes(in.set) {
				f(in)
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
			of := subprogram{around: w.Here.function}
			if !w.Attributes(of.set) {
				break
			}
			if own(of) {
				w.Below.function = w.Here.function
			}
			if of.sibling.Form != 0 && !w.HasInlined() {
				w.SkipTo(u.Sibling(of.sibling))
			}
		case dwarf.HoldsNoCode(tag, w.Here.inside) && w.SkipTree():
		default:
			w.Skip()
		}
	}
	return w.Err
}

func (of *subprogram) set(attr debugdwarf.Attr, v dwarf.Value) {
	switch attr {
	case debugdwarf.AttrLowpc, debugdwarf.AttrHighpc, debugdwarf.AttrRanges:
		of.code.Set(attr, v)
	case debugdwarf.AttrAbstractOrigin:
		of.origin = v
	case debugdwarf.AttrSpecification:
		of.specification = v
	case debugdwarf.AttrDeclLine:
		of.line = v.Uint
	case debugdwarf.AttrSibling:
		of.sibling = v
	}
}

func (in *inlinedSubroutine) set(attr debugdwarf.Attr, v dwarf.Value) {
	switch attr {
	case debugdwarf.AttrLowpc, debugdwarf.AttrHighpc, debugdwarf.AttrRanges:
		in.code.Set(attr, v)
	case debugdwarf.AttrAbstractOrigin:
		in.origin = v
	case debugdwarf.AttrCallFile:
		in.file = v.Uint
	case debugdwarf.AttrCallLine:
		in.line = v.Uint
	case dwarf.AttrGNUDiscriminator:
		in.discriminator = v.Uint
	}
}
