package dwarf

import (
	"math"

	"stackmill/stages/loadobject/bytereader"
)

// always is where an expression holds that is not from a list.
var always = span{0, math.MaxUint64}

// location passes the expressions of a location attribute, each with the addresses
// of the code where it holds, and reports whether it is a single one that holds in
// all code. Lists are in s, the addresses that they count from in linked.
func (s *sections) location(u *unit, linked *sections, v value, use func(where span, expression []byte)) (single bool) {
	switch v.form {
	case formExprloc, formBlock, formBlock1, formBlock2, formBlock4:
		use(always, v.b)
		return true
	case formSecOffset, formData4, formData8, formLoclistx:
	default:
		return false
	}
	entry := func(where span, expression []byte) {
		if where.low < where.high && expression != nil {
			use(where, expression)
		}
	}
	base, _ := linked.address(u, u.attrs[attrLowPC])
	switch {
	case u.version == 5:
		s.loclist(u, linked, v, base, entry)
	case s != linked:
		s.splitLocList(u, linked, v.u, entry)
	default:
		s.locList(u, v.u, base, entry)
	}
	return false
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
	l := listReader{Reader: bytereader.At(s.loc, off, s.order), u: u, linked: linked}
	for ; s.entries > 0 && !l.Short; s.entries-- {
		var r span
		switch l.U8() {
		case lleBaseAddrx:
			l.ULEB()
			continue
		case lleStartxEndx:
			r.low, r.high = l.indexed(), l.indexed()
		case lleStartxLength:
			r.low = l.indexed()
			r.high = r.low + uint64(l.U32())
		default:
			return
		}
		expression := l.Bytes(uint64(l.U16()))
		entry(r, expression)
	}
}

// The entries of a location list (DWARF 5 section 7.7.3, and GNU's). Those from
// lleDefault on, but GNU's, are one more than the same of a range list.
const (
	lleBaseAddrx    = rleBaseAddrx
	lleStartxEndx   = rleStartxEndx
	lleStartxLength = rleStartxLength
	lleDefault      = 5
	lleGNUViews     = 9
)

// loclist reads .debug_loclists (DWARF 5 section 2.6.2).
func (s *sections) loclist(u *unit, linked *sections, where value, base uint64, entry func(span, []byte)) {
	l, ok := s.listAt(s.loclists, u, where, formLoclistx, attrLoclistsBase)
	if !ok {
		return
	}
	l.base, l.linked = base, linked
	for ; s.entries > 0 && !l.Short; s.entries-- {
		kind, r := l.U8(), always
		switch {
		case kind == lleGNUViews:
			l.ULEB()
			l.ULEB()
			continue
		case kind == lleDefault:
		default:
			if kind > lleDefault {
				kind--
			}
			if l.setBase(kind) {
				continue
			}
			if r, ok = l.span(kind); !ok {
				return
			}
		}
		expression := l.Block()
		entry(r, expression)
	}
}
