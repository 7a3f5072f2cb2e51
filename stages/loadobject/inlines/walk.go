package inlines

import "stackmill/stages/loadobject/dwarf"

// inlined is an inlined subroutine.
type inlined struct {
	number     int // in the unit, from 0
	code       dwarf.Code
	origin     dwarf.Value // the entry of the function itself
	file, line uint64      // of the call; the file by its number in the unit's line table
	// discriminator tells the calls of a line apart.
	discriminator uint64
	depth         int // 0: inlined into a function that has code of its own
	parent        int // number of the one that it was inlined into, -1 at depth 0
}

// subprogram is a function with code of its own.
type subprogram struct {
	code          dwarf.Code
	origin        dwarf.Value // the entry that it is made from, if the entry has one
	specification dwarf.Value // its declaration, if that is another entry
	line          uint64      // of the declaration, 0 if another entry has it
	sibling       dwarf.Value
	around        uint64 // offset of the function that it is within, 0 for none
}

// scope is what the entries below an entry belong to.
type scope struct {
	depth    int
	parent   int
	inside   bool   // a subprogram
	below    bool   // any entry but the unit
	function uint64 // offset of the subprogram, 0 for none
}

// walkInlined calls f for each inlined subroutine of a unit in the order of the
// entries, parents before their children; own for the code of functions that is not
// inlined, which reports whether it is the body of a parallel region; and outer with the
// offsets of functions without code that are in no other entry.
// Everything before an error has been passed on.
func walkInlined(s *dwarf.Sections, u *dwarf.Unit, f func(inlined), own func(subprogram) (body bool), outer func(off uint64)) error {
	w := dwarf.WalkOf(s, u, scope{parent: -1})
	for number := 0; w.Next(); {
		w.Below.below = true
		switch tag := w.Entry.Tag; {
		case tag == dwarf.TagInlinedSubroutine:
			in := inlined{number: number, depth: w.Here.depth, parent: w.Here.parent}
			if w.Attributes(in.set) {
				f(in)
			}
			w.Below = scope{w.Here.depth + 1, number, true, true, w.Here.function}
			number++
		case tag == dwarf.TagSubprogram:
			w.Below = scope{parent: -1, inside: true, below: true, function: w.Offset}
			if !w.Entry.Origin && !w.Entry.Code {
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
		case dwarf.Codeless(tag, w.Here.inside) && w.SkipTree():
		default:
			w.Skip()
		}
	}
	return w.Err
}

func (of *subprogram) set(attr uint32, v dwarf.Value) {
	switch attr {
	case dwarf.AttrLowPC, dwarf.AttrHighPC, dwarf.AttrRanges:
		of.code.Set(attr, v)
	case dwarf.AttrOrigin:
		of.origin = v
	case dwarf.AttrSpecification:
		of.specification = v
	case dwarf.AttrDeclLine:
		of.line = v.Uint
	case dwarf.AttrSibling:
		of.sibling = v
	}
}

func (in *inlined) set(attr uint32, v dwarf.Value) {
	switch attr {
	case dwarf.AttrLowPC, dwarf.AttrHighPC, dwarf.AttrRanges:
		in.code.Set(attr, v)
	case dwarf.AttrOrigin:
		in.origin = v
	case dwarf.AttrCallFile:
		in.file = v.Uint
	case dwarf.AttrCallLine:
		in.line = v.Uint
	case dwarf.AttrDiscriminator:
		in.discriminator = v.Uint
	}
}
