package inlines

import (
	"cmp"
	debugdwarf "debug/dwarf"
	"slices"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/symtab"
)

// maxRounds bounds how often newly referenced entries are read, in one unit and over all units.
// Each round reaches one more scope or type.
const maxRounds = 32

// resolve reads the requested entries of the current unit, and the entries there that they refer
// to.
func (r *Reader) resolve(x *unitContext) {
	for range maxRounds {
		for len(x.unread) > 0 {
			n := x.unread[len(x.unread)-1]
			x.unread = x.unread[:len(x.unread)-1]
			r.read(x, n)
		}
		if len(x.scopes) == 0 {
			return
		}
		r.findScopes(x)
	}
}

// findScopes finds the requested scopes. For C++ functions without a linkage name, it also reads
// the parameters, which distinguish functions with the same name.
func (r *Reader) findScopes(x *unitContext) {
	list := x.scopes
	x.scopes = nil
	cxx := isCxx(r.units[x.number].module.Language) && x.s.Declares(x.u, debugdwarf.TagFormalParameter, debugdwarf.TagBaseType)
	var offsets []uint64
	for _, n := range list {
		e := &r.entries[n]
		if cxx && e.isFunction() && e.linkage == 0 {
			r.readParameters(x, n)
		}
		if _, outer := slices.BinarySearch(x.outer, e.offset); !outer && e.next == 0 && e.flags&isScopeKnown == 0 && x.s.NameBytes > 0 {
			offsets = append(offsets, e.offset)
		}
	}
	if len(offsets) == 0 {
		return
	}
	x.s.NameBytes -= int(x.u.Size)
	slices.Sort(offsets)
	x.s.Enclosing(x.u, slices.Compact(offsets), func(off uint64, around []uint64) {
		n := x.cache.entries[off]
		for _, at := range slices.Backward(around) {
			if r.entries[n].flags&isScopeKnown != 0 {
				return
			}
			outer := r.entryAt(x, x.s, at)
			r.entries[n].around = outer
			r.entries[n].flags |= isScopeKnown
			r.requestScope(x, outer)
			n = outer
		}
		r.entries[n].flags |= isScopeKnown
	})
}

func isCFamily(language string) bool {
	return language == "C" || language == "Objective-C" || isCxx(language)
}

func isCxx(language string) bool { return language == "C++" || language == "Objective-C++" }

// resolvePending reads the entries to which other units refer. Each round passes over all units.
func (r *Reader) resolvePending() {
	for range maxRounds {
		waiting := r.pending
		if len(waiting) == 0 {
			return
		}
		r.pending = nil
		slices.SortFunc(waiting, func(a, b pendingEntry) int {
			return cmp.Or(cmp.Compare(r.cacheOf(a.in).number, r.cacheOf(b.in).number), cmp.Compare(r.entries[a.number].offset, r.entries[b.number].offset))
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

// resolveIn reads pending entries of one file, which are sorted by offset.
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
			r.directories[name] = string(s.Text(u, debugdwarf.AttrCompDir))
		}
		x := r.enter(u, s, s, p, symtab.Module{Name: name, Language: cmp.Or(language, here[0].language)}) // partial units may have no language
		for _, w := range here {
			e := &r.entries[w.number]
			switch {
			case e.offset < u.Offset: // between units
			case e.flags&isRead == 0:
				x.unread = append(x.unread, w.number)
			default:
				e.unit = x.number
				r.addScopeRequest(x, w.number)
			}
		}
		r.resolve(x)
	}, func(uint64, error) {})
}
