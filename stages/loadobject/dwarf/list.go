package dwarf

import "stackmill/stages/loadobject/bytereader"

// The entries of a range list (DWARF 5 section 7.25).
const (
	rleBaseAddrx    = 1
	rleStartxEndx   = 2
	rleStartxLength = 3
	rleOffsetPair   = 4
	rleBase         = 5
	rleStartEnd     = 6
	rleStartLength  = 7
)

// listReader reads a list of ranges or locations of version 5.
type listReader struct {
	bytereader.Reader
	u      *unit
	linked *sections // has the addresses
	base   uint64    // what offset pairs count from
}

// listAt returns a reader of the list that an attribute refers to, in a section of
// lists: by offset, or, in a form of its own, by index.
func (s *sections) listAt(section []byte, u *unit, where value, indexed, baseAttr uint64) (l listReader, ok bool) {
	off := where.u
	if where.form == indexed {
		if off > uint64(len(section)) {
			return l, false
		}
		start := u.listsBase(baseAttr)
		c := bytereader.At(section, start+off*u.offsetSize(), s.order)
		off = start + c.Offset(u.wide)
	}
	return listReader{Reader: bytereader.At(section, off, s.order), u: u}, true
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

// setBase reads an entry of a range list that sets the base; false for others.
func (l *listReader) setBase(kind uint8) bool {
	switch kind {
	case rleBaseAddrx:
		l.base = l.indexed()
	case rleBase:
		l.base = l.Uint(l.u.addrSize)
	default:
		return false
	}
	return true
}

// span reads an entry of a range list; false for the end and unknown ones.
func (l *listReader) span(kind uint8) (r span, ok bool) {
	switch kind {
	case rleStartxEndx:
		r.low, r.high = l.indexed(), l.indexed()
	case rleStartxLength:
		r.low = l.indexed()
		r.high = r.low + l.ULEB()
	case rleOffsetPair:
		r.low, r.high = l.base+l.ULEB(), l.base+l.ULEB()
	case rleStartEnd:
		r.low, r.high = l.Uint(l.u.addrSize), l.Uint(l.u.addrSize)
	case rleStartLength:
		r.low = l.Uint(l.u.addrSize)
		r.high = r.low + l.ULEB()
	default:
		return r, false
	}
	return r, true
}

// indexed reads an index into .debug_addr.
func (l *listReader) indexed() uint64 {
	a, _ := l.linked.address(l.u, value{form: formAddrx, u: l.ULEB()})
	return a
}
