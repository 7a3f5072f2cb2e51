package dwarf

import (
	"fmt"

	"stackmill/stages/loadobject/bytereader"
)

// inlined is a subroutine whose code was put where it is called.
type inlined struct {
	number     int // in the unit, from 0
	code       pcs
	origin     value  // the entry of the function itself
	file, line uint64 // of the call; the file by its number in the unit's line table
	depth      int    // 0: inlined into a function that has code of its own
	parent     int    // number of the one that it was inlined into, -1 at depth 0
}

// The tags that matter on the way to inlined subroutines.
const (
	tagArrayType         = 0x01
	tagClassType         = 0x02
	tagEnumerationType   = 0x04
	tagStructureType     = 0x13
	tagSubroutineType    = 0x15
	tagUnionType         = 0x17
	tagInlinedSubroutine = 0x1d
	tagSubprogram        = 0x2e
	tagCallSite          = 0x48
	tagGNUCallSite       = 0x4109
)

// scope is what the entries below an entry belong to.
type scope struct {
	depth  int
	parent int
	inside bool // a subprogram
}

// maxNested bounds the entries within each other: each level of generated code
// takes a few, and each byte of a hostile file could be one more.
const maxNested = 1 << 14

// inlines calls f for each inlined subroutine of a unit in the order of the
// entries: parents come before their children; and own for the code that a
// function has of its own beside that. What was read before an error has been
// passed on.
func (s *sections) inlines(u *unit, f func(inlined), own func(origin value, code pcs)) error {
	abbrevs := s.abbrevs(u.abbrevs, u.format)
	if !abbrevs.inlined {
		return nil
	}
	c := u.entries
	here := scope{parent: -1}
	var around []scope
	for number := 0; len(c.Rest) > 0; {
		code := c.ULEB()
		if code == 0 {
			if len(around) == 0 {
				return nil
			}
			here, around = around[len(around)-1], around[:len(around)-1]
			continue
		}
		a := abbrevs.get(code)
		if a == nil {
			return fmt.Errorf("the entry at offset %d has no abbreviation", u.at(&c))
		}
		below, err := here, error(nil)
		switch {
		case a.tag == tagInlinedSubroutine:
			in := inlined{number: number, depth: here.depth, parent: here.parent}
			if err = in.read(&c, a, u.format); err == nil && !c.Short {
				f(in)
			}
			below = scope{here.depth + 1, number, true}
			number++
		case a.tag == tagSubprogram:
			below = scope{parent: -1, inside: true}
			if !a.origin {
				err = u.format.skip(&c, a)
				break
			}
			var in inlined
			if err = in.read(&c, a, u.format); err == nil && !c.Short {
				own(in.origin, in.code)
			}
		case a.children && a.sibling && codeless(a.tag, here.inside):
			if err = u.jump(&c, a); err == nil {
				continue
			}
		default:
			err = u.format.skip(&c, a)
		}
		if err != nil {
			return err
		}
		if a.children {
			if len(around) == maxNested {
				return fmt.Errorf("the entry before offset %d is one of more than %d within each other", u.at(&c), maxNested)
			}
			around = append(around, here)
			here = below
		}
	}
	if c.Short {
		return errShort
	}
	return nil
}

func (in *inlined) read(c *bytereader.Reader, a *abbrev, f format) error {
	return f.attributes(c, a, func(name uint32, v value) {
		switch name {
		case attrLowPC:
			in.code.low = v
		case attrHighPC:
			in.code.high = v
		case attrRanges:
			in.code.ranges = v
		case attrOrigin:
			in.origin = v
		case attrCallFile:
			in.file = v.u
		case attrCallLine:
			in.line = v.u
		}
	})
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

// jump moves past an entry and all below it.
func (u *unit) jump(c *bytereader.Reader, a *abbrev) error {
	var next uint64
	err := u.format.attributes(c, a, func(name uint32, v value) {
		if name == attrSibling {
			next = v.u
			if v.form == formRefAddr {
				next -= u.offset
			}
		}
	})
	if here := u.at(c) - u.offset; next < here || next > u.size {
		return fmt.Errorf("the entry before offset %d has its sibling at %d of the unit", here+u.offset, next)
	}
	c.Bytes(next - (u.at(c) - u.offset))
	return err
}

// at returns the offset in .debug_info that a reader of the unit is at.
func (u *unit) at(c *bytereader.Reader) uint64 { return u.offset + u.size - uint64(len(c.Rest)) }
