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

// listsBase is where the unit's list of range or location lists starts. A split
// unit has no attribute for it: its list follows the section's header.
func (u *unit) listsBase(attr uint64) uint64 {
	v, ok := u.attrs[attr]
	switch {
	case ok:
		return v.u
	case u.wide:
		return 20
	}
	return 12
}

// The entries of a range list (DWARF 5 section 7.25).
const (
	rleEnd          = 0
	rleBaseAddrx    = 1
	rleStartxEndx   = 2
	rleStartxLength = 3
	rleOffsetPair   = 4
	rleBase         = 5
	rleStartEnd     = 6
	rleStartLength  = 7
)

// rnglist reads .debug_rnglists.
func (s *sections) rnglist(list []span, u *unit, where value, base uint64) []span {
	off := where.u
	if where.form == formRnglistx {
		start := u.listsBase(attrRnglistsBase)
		size := uint64(4)
		if u.wide {
			size = 8
		}
		if off > uint64(len(s.rnglists)) {
			return nil
		}
		c := bytereader.At(s.rnglists, start+off*size, s.order)
		off = start + c.Offset(u.wide)
	}
	c := bytereader.At(s.rnglists, off, s.order)
	index := func() uint64 {
		a, _ := s.address(u, value{form: formAddrx, u: c.ULEB()})
		return a
	}
	for ; s.entries > 0; s.entries-- {
		var r span
		switch kind := c.U8(); kind {
		case rleBaseAddrx:
			base = index()
			continue
		case rleBase:
			base = c.Uint(u.addrSize)
			continue
		case rleStartxEndx:
			r.low, r.high = index(), index()
		case rleStartxLength:
			r.low = index()
			r.high = r.low + c.ULEB()
		case rleOffsetPair:
			r.low, r.high = base+c.ULEB(), base+c.ULEB()
		case rleStartEnd:
			r.low, r.high = c.Uint(u.addrSize), c.Uint(u.addrSize)
		case rleStartLength:
			r.low = c.Uint(u.addrSize)
			r.high = r.low + c.ULEB()
		default: // rleEnd, or what later versions may add
			return list
		}
		if c.Short {
			return list
		}
		if r.low < r.high {
			list = append(list, r)
		}
	}
	return list
}
