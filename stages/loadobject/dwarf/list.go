package dwarf

import (
	debugdwarf "debug/dwarf"

	"stackmill/internal/bytereader"
)

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

// listReader reads a DWARF 5 list of ranges or locations.
type listReader struct {
	bytereader.Reader
	u      *Unit
	linked *Sections // the sections with .debug_addr
	base   uint64    // base address of offset pairs
}

// listAt returns a reader of the list that attribute where refers to: by its number if the
// attribute's form is indexed, else by its offset.
func (s *Sections) listAt(section []byte, u *Unit, where Value, indexed uint64, baseAttr debugdwarf.Attr) (l listReader, ok bool) {
	off := where.Uint
	if where.Form == indexed {
		if off > uint64(len(section)) {
			return l, false
		}
		start := u.listsBase(baseAttr)
		c := bytereader.At(section, start+off*u.offsetSize(), s.Order)
		off = start + c.Offset(u.Wide)
	}
	return listReader{Reader: bytereader.At(section, off, s.Order), u: u}, true
}

// listsBase returns the offset of the unit's table of list offsets. A split unit has no attribute
// for it: there, the table follows the section's header.
func (u *Unit) listsBase(attr debugdwarf.Attr) uint64 {
	v := u.Attrs.Get(attr)
	switch {
	case v.Form != 0:
		return v.Uint
	case u.Wide:
		return 20
	}
	return 12
}

// setBase reads an entry that sets the base address; false for other entries.
func (l *listReader) setBase(kind uint8) bool {
	switch kind {
	case rleBaseAddrx:
		l.base = l.indexed()
	case rleBase:
		l.base = l.Uint(l.u.AddrSize)
	default:
		return false
	}
	return true
}

// readRange reads an entry with a range; false at the end of the list and for an unknown entry.
func (l *listReader) readRange(kind uint8) (r Range, ok bool) {
	switch kind {
	case rleStartxEndx:
		r.Low, r.High = l.indexed(), l.indexed()
	case rleStartxLength:
		r.Low = l.indexed()
		r.High = r.Low + l.ULEB()
	case rleOffsetPair:
		r.Low, r.High = l.base+l.ULEB(), l.base+l.ULEB()
	case rleStartEnd:
		r.Low, r.High = l.Uint(l.u.AddrSize), l.Uint(l.u.AddrSize)
	case rleStartLength:
		r.Low = l.Uint(l.u.AddrSize)
		r.High = r.Low + l.ULEB()
	default:
		return r, false
	}
	return r, true
}

// indexed reads an index of .debug_addr and returns the address there.
func (l *listReader) indexed() uint64 {
	a, _ := l.linked.Address(l.u, Value{Form: FormAddrx, Uint: l.ULEB()})
	return a
}
