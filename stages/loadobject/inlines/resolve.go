package inlines

import (
	"cmp"
	"slices"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/symtab"
)

// maxRounds bounds how often a unit is read for what its entries refer to, and all units
// for what they refer to in each other. Each round goes one scope or type further.
const maxRounds = 32

// resolve reads the entries of the unit that are wanted, and those that they depend on there.
func (r *Reader) resolve(x *context) {
	for range maxRounds {
		for len(x.unread) > 0 {
			n := x.unread[len(x.unread)-1]
			x.unread = x.unread[:len(x.unread)-1]
			r.read(x, n)
		}
		if len(x.inside) == 0 {
			return
		}
		r.findScopes(x)
	}
}

// findScopes finds the scopes of entries, and what else tells them apart from others of
// their names.
func (r *Reader) findScopes(x *context) {
	list := x.inside
	x.inside = nil
	cxx := isCxx(r.units[x.number].module.Language) && x.s.Declares(x.u, dwarf.TagFormalParameter, dwarf.TagBaseType)
	var offsets []uint64
	for _, n := range list {
		e := &r.entries[n]
		if cxx && e.isFunction() && e.linkage == 0 {
			r.readParameters(x, n)
		}
		if _, outer := slices.BinarySearch(x.outer, e.offset); !outer && e.next == 0 && e.flags&isPlaced == 0 && x.s.NameBytes > 0 {
			offsets = append(offsets, e.offset)
		}
	}
	if len(offsets) == 0 {
		return
	}
	x.s.NameBytes -= int(x.u.Size)
	slices.Sort(offsets)
	x.s.Enclosing(x.u, slices.Compact(offsets), func(off uint64, around []uint64) {
		n := x.known.entries[off]
		for _, at := range slices.Backward(around) {
			if r.entries[n].flags&isPlaced != 0 {
				return
			}
			outer := r.entryAt(x, x.s, at)
			r.entries[n].around = outer
			r.entries[n].flags |= isPlaced
			r.scope(x, outer)
			n = outer
		}
		r.entries[n].flags |= isPlaced
	})
}

func isCFamily(language string) bool {
	return language == "C" || language == "Objective-C" || isCxx(language)
}

func isCxx(language string) bool { return language == "C++" || language == "Objective-C++" }

// resolveElsewhere reads the entries in other units than their references, each step in one
// pass over all units.
func (r *Reader) resolveElsewhere() {
	for range maxRounds {
		waiting := r.pending
		if len(waiting) == 0 {
			return
		}
		r.pending = nil
		slices.SortFunc(waiting, func(a, b pendingEntry) int {
			return cmp.Or(cmp.Compare(r.knownOf(a.in).number, r.knownOf(b.in).number), cmp.Compare(r.entries[a.number].offset, r.entries[b.number].offset))
		})
		for len(waiting) > 0 {
			s, n := waiting[0].in, 1
			for n < len(waiting) && waiting[n].in == s {
				n++
			}
			r.resolveIn(s, waiting[:n])
			waiting = waiting[n:]
		}
	}
}

// resolveIn reads entries of one file, in ascending order.
func (r *Reader) resolveIn(s *dwarf.Sections, waiting []pendingEntry) {
	s.Units(func(u *dwarf.Unit) {
		n := 0
		for n < len(waiting) && r.entries[waiting[n].number].offset < u.Offset+u.Size {
			n++
		}
		here := waiting[:n]
		if waiting = waiting[n:]; n == 0 {
			return
		}
		p := r.lines.Files(s, u)
		name, language := r.info.UnitName(u, u, s, "")
		if name != "" && language != "Go" {
			r.directories[name] = string(s.Text(u, dwarf.AttrCompDir))
		}
		x := r.enter(u, s, s, p, symtab.Module{Name: name, Language: cmp.Or(language, here[0].language)}) // partial units may have none
		for _, w := range here {
			e := &r.entries[w.number]
			switch {
			case e.offset < u.Offset: // between units
			case e.flags&isRead == 0:
				x.unread = append(x.unread, w.number)
			default: // its scope is wanted
				e.unit = x.number
				r.inside(x, w.number)
			}
		}
		r.resolve(x)
	}, func(uint64, error) {})
}
