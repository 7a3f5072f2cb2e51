package dwarf

import (
	"stackmill/stages/loadobject/bytereader"
	"stackmill/stages/loadobject/types"
)

// location passes the places that a location attribute tells, and returns the
// address when the variable lies at one all the time. Lists are in s, the
// addresses that they count from in linked.
func (s *sections) location(u *unit, linked *sections, v value, place func(types.Place)) fixed {
	switch v.form {
	case formExprloc, formBlock, formBlock1, formBlock2, formBlock4:
		return linked.evaluate(u, v.b, func(p types.Place) {
			p.High = types.Always
			place(p)
		})
	case formSecOffset, formData4, formData8, formLoclistx:
	default:
		return fixed{}
	}
	base, _ := linked.address(u, u.attrs[attrLowPC])
	entry := func(r span, expression []byte) {
		if r.low >= r.high {
			return
		}
		linked.evaluate(u, expression, func(p types.Place) {
			p.Low, p.High = r.low, r.high
			place(p)
		})
	}
	switch {
	case u.version == 5:
		s.loclist(u, linked, v, base, entry)
	case s != linked:
		s.splitLocList(u, linked, v.u, entry)
	default:
		s.locList(u, v.u, base, entry)
	}
	return fixed{}
}

// locList reads .debug_loc (DWARF 4 section 2.6.2).
func (s *sections) locList(u *unit, off, base uint64, entry func(span, []byte)) {
	c := bytereader.At(s.loc, off, s.order)
	largest := ^uint64(0) >> (64 - 8*u.addrSize)
	for ; s.entries > 0; s.entries-- {
		low, high := c.Uint(u.addrSize), c.Uint(u.addrSize)
		if c.Short || low == 0 && high == 0 {
			return
		}
		if low == largest {
			base = high
			continue
		}
		expression := c.Bytes(uint64(c.U16()))
		entry(span{base + low, base + high}, expression)
	}
}

// splitLocList reads the .debug_loc.dwo of version 4, GNU's draft of version 5.
func (s *sections) splitLocList(u *unit, linked *sections, off uint64, entry func(span, []byte)) {
	c := bytereader.At(s.loc, off, s.order)
	for ; s.entries > 0 && !c.Short; s.entries-- {
		var r span
		switch c.U8() {
		case lleBaseAddrx:
			c.ULEB()
			continue
		case lleStartxEndx:
			r.low, r.high = linked.indexed(u, &c), linked.indexed(u, &c)
		case lleStartxLength:
			r.low = linked.indexed(u, &c)
			r.high = r.low + uint64(c.U32())
		default:
			return
		}
		expression := c.Bytes(uint64(c.U16()))
		entry(r, expression)
	}
}

// The entries of a location list (DWARF 5 section 7.7.3, and GNU's).
const (
	lleBaseAddrx    = 1
	lleStartxEndx   = 2
	lleStartxLength = 3
	lleOffsetPair   = 4
	lleDefault      = 5
	lleBase         = 6
	lleStartEnd     = 7
	lleStartLength  = 8
	lleGNUViews     = 9
)

// loclist reads .debug_loclists.
func (s *sections) loclist(u *unit, linked *sections, where value, base uint64, entry func(span, []byte)) {
	off := where.u
	if where.form == formLoclistx {
		start := u.listsBase(attrLoclistsBase)
		size := uint64(4)
		if u.wide {
			size = 8
		}
		if off > uint64(len(s.loclists)) {
			return
		}
		c := bytereader.At(s.loclists, start+off*size, s.order)
		off = start + c.Offset(u.wide)
	}
	c := bytereader.At(s.loclists, off, s.order)
	for ; s.entries > 0 && !c.Short; s.entries-- {
		var r span
		switch c.U8() {
		case lleBaseAddrx:
			base = linked.indexed(u, &c)
			continue
		case lleBase:
			base = c.Uint(u.addrSize)
			continue
		case lleGNUViews:
			c.ULEB()
			c.ULEB()
			continue
		case lleStartxEndx:
			r.low, r.high = linked.indexed(u, &c), linked.indexed(u, &c)
		case lleStartxLength:
			r.low = linked.indexed(u, &c)
			r.high = r.low + c.ULEB()
		case lleOffsetPair:
			r.low, r.high = base+c.ULEB(), base+c.ULEB()
		case lleDefault:
			r.high = types.Always
		case lleStartEnd:
			r.low, r.high = c.Uint(u.addrSize), c.Uint(u.addrSize)
		case lleStartLength:
			r.low = c.Uint(u.addrSize)
			r.high = r.low + c.ULEB()
		default: // the end, or what later versions may add
			return
		}
		expression := c.Bytes(c.ULEB())
		if !c.Short {
			entry(r, expression)
		}
	}
}

// indexed reads an index into .debug_addr.
func (s *sections) indexed(u *unit, c *bytereader.Reader) uint64 {
	a, _ := s.address(u, value{form: formAddrx, u: c.ULEB()})
	return a
}
