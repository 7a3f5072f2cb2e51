package dwarf

import "stackmill/internal/bytereader"

// Span is a range of virtual addresses.
type Span struct{ Low, High uint64 }

// Code are the attributes with the addresses of an entry's code; an attribute that
// the entry lacks has form 0.
type Code struct{ Low, High, Ranges Value }

// Set keeps an attribute if it is one of these.
func (p *Code) Set(attr uint32, v Value) {
	switch attr {
	case AttrLowPC:
		p.Low = v
	case AttrHighPC:
		p.High = v
	case AttrRanges:
		p.Ranges = v
	}
}

// Code returns the attributes of the unit itself.
func (u *Unit) Code() Code {
	return Code{u.Attrs[AttrLowPC], u.Attrs[AttrHighPC], u.Attrs[AttrRanges]}
}

// Spans appends the addresses of an entry's code, if it has any, to a list.
func (s *Sections) Spans(list []Span, u *Unit, p Code) []Span {
	if p.Ranges.Form != 0 {
		base, _ := s.Address(u, u.Attrs[AttrLowPC])
		if u.Version == 5 {
			return s.rnglist(list, u, p.Ranges, base)
		}
		return s.rangeList(list, u, u.rangesBase+p.Ranges.Uint, base)
	}
	low, ok := s.Address(u, p.Low)
	if !ok || p.High.Form == 0 {
		return list
	}
	end, isAddress := s.Address(u, p.High)
	if !isAddress { // a constant is the size
		end = low + p.High.Uint
	}
	return append(list, Span{low, end})
}

// rangeList reads .debug_ranges (DWARF 4 section 2.17.3).
func (s *Sections) rangeList(list []Span, u *Unit, off, base uint64) []Span {
	c := bytereader.At(s.ranges, off, s.Order)
	largest := ^uint64(0) >> (64 - 8*u.AddrSize)
	for ; s.entries > 0; s.entries-- {
		low, high := c.Uint(u.AddrSize), c.Uint(u.AddrSize)
		switch {
		case c.Short || low == 0 && high == 0:
			return list
		case low == largest:
			base = high
		case low < high:
			list = append(list, Span{base + low, base + high})
		}
	}
	return list
}

// rnglist reads .debug_rnglists (DWARF 5 section 2.17.3).
func (s *Sections) rnglist(list []Span, u *Unit, where Value, base uint64) []Span {
	l, ok := s.listAt(s.rnglists, u, where, formRnglistx, attrRnglistsBase)
	if !ok {
		return nil
	}
	l.base, l.linked = base, s
	for ; s.entries > 0; s.entries-- {
		kind := l.U8()
		if l.setBase(kind) {
			continue
		}
		r, ok := l.span(kind)
		if !ok || l.Short { // the end, or what later versions may add
			return list
		}
		if r.Low < r.High {
			list = append(list, r)
		}
	}
	return list
}
