package dwarf

import (
	"math"

	"stackmill/internal/bytereader"
)

// always is where an expression is valid that is in no list.
var always = Span{0, math.MaxUint64}

// Location passes the expressions of a location attribute, each with the addresses
// of the code where it is valid, and reports whether it is a single one for all
// code. Lists are in s, the addresses that they are relative to in linked.
func (s *Sections) Location(u *Unit, linked *Sections, v Value, use func(where Span, expression []byte)) (single bool) {
	switch v.Form {
	case FormExprloc, FormBlock, FormBlock1, FormBlock2, FormBlock4:
		use(always, v.Bytes)
		return true
	case formSecOffset, FormData4, FormData8, formLoclistx:
	default:
		return false
	}
	entry := func(where Span, expression []byte) {
		if where.Low < where.High && expression != nil {
			use(where, expression)
		}
	}
	base, _ := linked.Address(u, u.Attrs[AttrLowPC])
	switch {
	case u.Version == 5:
		s.loclist(u, linked, v, base, entry)
	case s != linked:
		s.splitLocList(u, linked, v.Uint, entry)
	default:
		s.locList(u, v.Uint, base, entry)
	}
	return false
}

// locList reads .debug_loc (DWARF 4 section 2.6.2).
func (s *Sections) locList(u *Unit, off, base uint64, entry func(Span, []byte)) {
	c := bytereader.At(s.loc, off, s.Order)
	largest := ^uint64(0) >> (64 - 8*u.AddrSize)
	for ; s.entries > 0; s.entries-- {
		low, high := c.Uint(u.AddrSize), c.Uint(u.AddrSize)
		if c.Short || low == 0 && high == 0 {
			return
		}
		if low == largest {
			base = high
			continue
		}
		expression := c.Bytes(uint64(c.U16()))
		entry(Span{base + low, base + high}, expression)
	}
}

// splitLocList reads the .debug_loc.dwo of version 4, GNU's draft of version 5.
func (s *Sections) splitLocList(u *Unit, linked *Sections, off uint64, entry func(Span, []byte)) {
	l := listReader{Reader: bytereader.At(s.loc, off, s.Order), u: u, linked: linked}
	for ; s.entries > 0 && !l.Short; s.entries-- {
		var r Span
		switch l.U8() {
		case lleBaseAddrx:
			l.ULEB()
			continue
		case lleStartxEndx:
			r.Low, r.High = l.indexed(), l.indexed()
		case lleStartxLength:
			r.Low = l.indexed()
			r.High = r.Low + uint64(l.U32())
		default:
			return
		}
		expression := l.Bytes(uint64(l.U16()))
		entry(r, expression)
	}
}

// The entries of a location list (DWARF 5 section 7.7.3, and GNU's). After
// lleDefault, their codes are one more than in a range list.
const (
	lleBaseAddrx    = rleBaseAddrx
	lleStartxEndx   = rleStartxEndx
	lleStartxLength = rleStartxLength
	lleDefault      = 5
	lleGNUViews     = 9
)

// loclist reads .debug_loclists (DWARF 5 section 2.6.2).
func (s *Sections) loclist(u *Unit, linked *Sections, where Value, base uint64, entry func(Span, []byte)) {
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
