package dwarf

import (
	debugdwarf "debug/dwarf"

	"stackmill/internal/bytereader"
)

// Range is a range of virtual addresses [Low, High).
type Range struct{ Low, High uint64 }

// Ranges appends the ranges of an entry's code to a list.
func (s *Sections) Ranges(list []Range, u *Unit, entry Attrs) []Range {
	if where := entry.Get(debugdwarf.AttrRanges); where.Form != 0 {
		base, _ := s.Address(u, u.Attrs.Get(debugdwarf.AttrLowpc))
		if u.Version == 5 {
			return s.rnglist(list, u, where, base)
		}
		return s.rangeList(list, u, u.rangesBase+where.Uint, base)
	}
	low, ok := s.Address(u, entry.Get(debugdwarf.AttrLowpc))
	high := entry.Get(debugdwarf.AttrHighpc)
	if !ok || high.Form == 0 {
		return list
	}
	end, isAddress := s.Address(u, high)
	if !isAddress { // a constant is the size
		end = low + high.Uint
	}
	return append(list, Range{low, end})
}

// rangeList reads .debug_ranges (DWARF 4 section 2.17.3).
func (s *Sections) rangeList(list []Range, u *Unit, off, base uint64) []Range {
	s.pairs(s.ranges, u, off, base, func(r Range, _ *bytereader.Reader) {
		if r.Low < r.High {
			list = append(list, r)
		}
	})
	return list
}

// rnglist reads .debug_rnglists (DWARF 5 section 2.17.3).
func (s *Sections) rnglist(list []Range, u *Unit, where Value, base uint64) []Range {
	l, ok := s.listAt(s.rnglists, u, where, formRnglistx, debugdwarf.AttrRnglistsBase)
	if !ok {
		return nil
	}
	l.base, l.linked = base, s
	for ; s.listEntries > 0; s.listEntries-- {
		kind := l.U8()
		if l.setBase(kind) {
			continue
		}
		r, ok := l.readRange(kind)
		if !ok || l.Short { // the end, or an entry that only later versions have
			return list
		}
		if r.Low < r.High {
			list = append(list, r)
		}
	}
	return list
}
