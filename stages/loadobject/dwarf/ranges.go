package dwarf

import "stackmill/stages/loadobject/bytereader"

// span is a range of virtual addresses.
type span struct{ low, high uint64 }

// pcs are the attributes that say where an entry's code is; a form of 0 means
// that there is none.
type pcs struct{ low, high, ranges value }

// set takes an attribute if it is one of these.
func (p *pcs) set(attr uint32, v value) {
	switch attr {
	case attrLowPC:
		p.low = v
	case attrHighPC:
		p.high = v
	case attrRanges:
		p.ranges = v
	}
}

func (u *unit) pcs() pcs {
	return pcs{u.attrs[attrLowPC], u.attrs[attrHighPC], u.attrs[attrRanges]}
}

// spans appends the addresses of an entry's code to list; nothing when the
// entry does not say.
func (s *sections) spans(list []span, u *unit, p pcs) []span {
	if p.ranges.form != 0 {
		base, _ := s.address(u, u.attrs[attrLowPC])
		if u.version == 5 {
			return s.rnglist(list, u, p.ranges, base)
		}
		return s.rangeList(list, u, u.rangesBase+p.ranges.u, base)
	}
	low, ok := s.address(u, p.low)
	if !ok || p.high.form == 0 {
		return list
	}
	end, isAddress := s.address(u, p.high)
	if !isAddress { // a constant is the size
		end = low + p.high.u
	}
	return append(list, span{low, end})
}

// rangeList reads .debug_ranges (DWARF 4 section 2.17.3).
func (s *sections) rangeList(list []span, u *unit, off, base uint64) []span {
	c := bytereader.At(s.ranges, off, s.order)
	largest := ^uint64(0) >> (64 - 8*u.addrSize)
	for ; s.entries > 0; s.entries-- {
		low, high := c.Uint(u.addrSize), c.Uint(u.addrSize)
		switch {
		case c.Short || low == 0 && high == 0:
			return list
		case low == largest:
			base = high
		case low < high:
			list = append(list, span{base + low, base + high})
		}
	}
	return list
}

// rnglist reads .debug_rnglists (DWARF 5 section 2.17.3).
func (s *sections) rnglist(list []span, u *unit, where value, base uint64) []span {
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
		if r.low < r.high {
			list = append(list, r)
		}
	}
	return list
}
