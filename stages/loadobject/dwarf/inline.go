package dwarf

// inlined is a subroutine whose code was put where it is called.
type inlined struct {
	number     int // in the unit, from 0
	code       pcs
	origin     value  // the entry of the function itself
	file, line uint64 // of the call; the file by its number in the unit's line table
	depth      int    // 0: inlined into a function that has code of its own
	parent     int    // number of the one that it was inlined into, -1 at depth 0
}

// scope is what the entries below an entry belong to.
type scope struct {
	depth  int
	parent int
	inside bool // a subprogram
}

// walkInlined calls f for each inlined subroutine of a unit in the order of the
// entries: parents come before their children; and own for the code that a
// function has of its own beside that. What was read before an error has been
// passed on.
func walkInlined(s *sections, u *unit, f func(inlined), own func(origin value, code pcs)) error {
	w := walkOf(s, u, scope{parent: -1})
	if !w.abbrevs.inlined {
		return nil
	}
	for number := 0; w.next(); {
		switch tag := w.entry.tag; {
		case tag == tagInlinedSubroutine:
			in := inlined{number: number, depth: w.here.depth, parent: w.here.parent}
			if w.attributes(in.set) {
				f(in)
			}
			w.below = scope{w.here.depth + 1, number, true}
			number++
		case tag == tagSubprogram:
			w.below = scope{parent: -1, inside: true}
			if !w.entry.origin {
				w.skip()
				break
			}
			var in inlined
			if w.attributes(in.set) {
				own(in.origin, in.code)
			}
		case codeless(tag, w.here.inside) && w.skipTree():
		default:
			w.skip()
		}
	}
	return w.err
}

func (in *inlined) set(attr uint32, v value) {
	switch attr {
	case attrLowPC, attrHighPC, attrRanges:
		in.code.set(attr, v)
	case attrOrigin:
		in.origin = v
	case attrCallFile:
		in.file = v.u
	case attrCallLine:
		in.line = v.u
	}
}
