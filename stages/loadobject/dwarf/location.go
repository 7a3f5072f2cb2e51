package dwarf

import (
	debugdwarf "debug/dwarf"
	"math"

	"stackmill/internal/bytereader"
)

// everywhere is the range for an expression that is valid for all code.
var everywhere = Range{0, math.MaxUint64}

// Location passes the expressions of a location attribute to use, each with the range of code where
// it is valid. It returns true if there is only one expression, valid for all code. s has the lists
// of expressions, linked their base addresses.
func (s *Sections) Location(u *Unit, linked *Sections, v Value, use func(where Range, expression []byte)) (single bool) {
	switch v.Form {
	case FormExprloc, FormBlock, FormBlock1, FormBlock2, FormBlock4:
		use(everywhere, v.Bytes)
		return true
	case formSecOffset, FormData4, FormData8, formLoclistx:
	default:
		return false
	}
	entry := func(where Range, expression []byte) {
		if where.Low < where.High && expression != nil {
			use(where, expression)
		}
	}
	base, _ := linked.Address(u, u.Attrs.Get(debugdwarf.AttrLowpc))
	switch {
	case u.Version == 5:
		s.loclist(u, linked, v, base, entry)
	case s != linked:
		s.splitLocList(u, linked, v.Uint, entry)
	default:
		s.pairs(s.loc, u, v.Uint, base, func(r Range, c *bytereader.Reader) { // DWARF 4 section 2.6.2
			entry(r, c.Bytes(uint64(c.U16())))
		})
	}
	return false
}

// pairs reads a list of address pairs, as in .debug_ranges and .debug_loc. It passes each range to
// use, with a reader of the bytes after the pair.
func (s *Sections) pairs(section []byte, u *Unit, off, base uint64, use func(Range, *bytereader.Reader)) {
	c := bytereader.At(section, off, s.Order)
	largest := ^uint64(0) >> (64 - 8*u.AddrSize)
	for ; s.listEntries > 0; s.listEntries-- {
		low, high := c.Uint(u.AddrSize), c.Uint(u.AddrSize)
		switch {
		case c.Short || low == 0 && high == 0:
			return
		case low == largest:
			base = high
		default:
			use(Range{base + low, base + high}, &c)
		}
	}
}

// splitLocList reads .debug_loc.dwo of version 4. Its lists have the form of a GNU draft of version
// 5.
func (s *Sections) splitLocList(u *Unit, linked *Sections, off uint64, entry func(Range, []byte)) {
	l := listReader{Reader: bytereader.At(s.loc, off, s.Order), u: u, linked: linked}
	for ; s.listEntries > 0 && !l.Short; s.listEntries-- {
		var r Range
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

// The entries of a location list (DWARF 5 section 7.7.3, and GNU's). Entries after lleDefault have
// the code of the same entry in a range list plus one.
const (
	lleBaseAddrx    = rleBaseAddrx
	lleStartxEndx   = rleStartxEndx
	lleStartxLength = rleStartxLength
	lleDefault      = 5
	lleGNUViews     = 9
)

// loclist reads .debug_loclists (DWARF 5 section 2.6.2).
func (s *Sections) loclist(u *Unit, linked *Sections, where Value, base uint64, entry func(Range, []byte)) {
	l, ok := s.listAt(s.loclists, u, where, formLoclistx, debugdwarf.AttrLoclistsBase)
	if !ok {
		return
	}
	l.base, l.linked = base, linked
	for ; s.listEntries > 0 && !l.Short; s.listEntries-- {
		kind, r := l.U8(), everywhere
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
			if r, ok = l.readRange(kind); !ok {
				return
			}
		}
		expression := l.Block()
		entry(r, expression)
	}
}
