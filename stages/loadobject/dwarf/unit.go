package dwarf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"stackmill/stages/loadobject/bytereader"
)

// sections are the parts of one file's debug information.
type sections struct {
	order                                        binary.ByteOrder
	info, abbrev, str, lineStr, strOffsets, addr []byte
	line, ranges, rnglists, loc, loclists        []byte
	altStr                                       []byte // .debug_str of the file that dwz moved strings to
	oldTypes                                     []byte // .debug_types.dwo of version 4

	table *abbrevs // the last one that was read
	known any      // what the reader of functions keeps of them
	*budget

	types   bool   // units of types are wanted, too
	old     bool   // .debug_types of version 4, where all are
	base    uint64 // of .debug_info's offsets where those of several files are told apart
	altBase uint64 // of the file that dwz moved entries to, 0 for none
}

// budget bounds what input costs whose units share what they should not: bytes
// of .debug_abbrev to read, entries of range and location lists to read, and bytes of line
// number programs to run, bytes of functions' entries and names to read. What well-formed input needs is read once, or when
// units take turns with a few tables, no more than they are long.
type budget struct{ scan, entries, program, names int }

func (s *sections) bound() {
	s.budget = &budget{
		scan:    2*len(s.abbrev) + 8*len(s.info) + 1<<16,
		entries: len(s.ranges) + len(s.rnglists) + len(s.loc) + len(s.loclists),
		program: len(s.line),
		names:   64*len(s.info) + 1<<16,
	}
}

// unit is a compilation unit: its header and its first entry.
type unit struct {
	format
	offset  uint64 // in .debug_info
	size    uint64 // with the header
	dwoID   uint64
	attrs   map[uint64]value
	abbrevs uint64            // offset of its table in .debug_abbrev
	entries bytereader.Reader // those behind the first one; empty when that has no children

	rangesBase uint64 // of a split unit, what its offsets in .debug_ranges count from

	signature, typeAt uint64 // of a unit of types: the name and the offset in the unit of its type
}

// The unit types of DWARF 5 whose headers have more than the common fields.
const (
	unitType         = 2
	unitSkeleton     = 4
	unitSplitCompile = 5
	unitSplitType    = 6
)

var errShort = errors.New("runs beyond its end")

// units calls f for each compilation unit of .debug_info. A unit that cannot be
// read is passed to bad and left out; only a wrong length ends the walk.
func (s *sections) units(f func(*unit), bad func(off uint64, err error)) {
	for off := uint64(0); off < uint64(len(s.info)); {
		c := bytereader.At(s.info, off, s.order)
		n, wide := c.Length()
		head := uint64(4)
		if wide {
			head = 12
		}
		body := c.Sub(n)
		if c.Short {
			bad(off, errShort)
			return
		}
		u, err := s.unit(body, wide)
		switch {
		case err != nil:
			bad(off, err)
		case u != nil:
			u.offset, u.size = off, head+n
			f(u)
		}
		off += head + n
	}
}

// unit reads a unit's header and first entry (DWARF 5 section 7.5.1); nil for
// units that hold no code.
func (s *sections) unit(c bytereader.Reader, wide bool) (*unit, error) {
	u := &unit{format: format{version: int(c.U16()), wide: wide}}
	if u.version < 2 || u.version > 5 {
		return nil, fmt.Errorf("unknown version %d", u.version)
	}
	if !s.header(u, &c) {
		return nil, nil
	}
	if u.addrSize != 4 && u.addrSize != 8 && u.addrSize != 2 {
		return nil, fmt.Errorf("address size %d", u.addrSize)
	}
	code := c.ULEB()
	if code == 0 {
		return nil, nil
	}
	d := s.abbrevs(u.abbrevs, u.format).get(code)
	if d == nil {
		return nil, fmt.Errorf("no abbreviation %d in the table at offset %d", code, u.abbrevs)
	}
	if d.tag != tagCompileUnit && d.tag != tagSkeletonUnit && d.tag != tagPartialUnit && d.tag != tagTypeUnit {
		return nil, nil
	}
	return u, u.first(d, c)
}

// header reads what follows a unit's version; false for a unit that is not wanted.
func (s *sections) header(u *unit, c *bytereader.Reader) bool {
	var kind uint8
	if u.version == 5 {
		kind = c.U8()
		u.addrSize = int(c.U8())
		u.abbrevs = c.Offset(u.wide)
	} else {
		u.abbrevs = c.Offset(u.wide)
		u.addrSize = int(c.U8())
	}
	switch kind {
	case unitType, unitSplitType:
		if !s.types {
			return false
		}
		u.signature, u.typeAt = c.U64(), c.Offset(u.wide)
	case unitSkeleton, unitSplitCompile:
		u.dwoID = c.U64()
	}
	if s.old {
		u.signature, u.typeAt = c.U64(), c.Offset(u.wide)
	}
	return true
}

// first reads the attributes of a unit's first entry; the others follow it.
func (u *unit) first(d *abbrev, c bytereader.Reader) error {
	u.attrs = make(map[uint64]value, len(d.attrs))
	if err := u.format.attributes(&c, d, func(name uint32, v value) { u.attrs[uint64(name)] = v }); err != nil {
		return err
	}
	if c.Short {
		return errShort
	}
	if v, ok := u.attrs[attrGNUDwoID]; ok {
		u.dwoID = v.u
	}
	if d.children {
		u.entries = c
	}
	return nil
}

// text resolves a string attribute; empty when there is none.
func (s *sections) text(u *unit, attr uint64) []byte {
	return s.string(u, u.attrs[attr])
}

// infoSize returns the length of the section of units.
func (s *sections) infoSize() int { return len(s.info) }

// dwoName returns the name of the file with a unit's other half, nil for a unit
// that is whole.
func (s *sections) dwoName(u *unit) []byte {
	if name := s.text(u, attrDwoName); name != nil {
		return name
	}
	return s.text(u, attrGNUDwoName)
}

// string resolves a string value; empty when it is none.
func (s *sections) string(u *unit, v value) []byte {
	switch v.form {
	case formString:
		return v.b
	case formStrp:
		return textAt(s.str, v.u)
	case formLineStrp:
		return textAt(s.lineStr, v.u)
	case formStrpSup, formGNUStrpAlt:
		return textAt(s.altStr, v.u)
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGNUStr:
		if v.u > uint64(len(s.strOffsets)) {
			return nil
		}
		c := bytereader.At(s.strOffsets, u.strOffsetsBase()+v.u*u.offsetSize(), s.order)
		return textAt(s.str, c.Offset(u.wide))
	}
	return nil
}

// strOffsetsBase is where the unit's string offsets start. A split unit has no
// attribute for it: its offsets follow the section's header, if it has one.
func (u *unit) strOffsetsBase() uint64 {
	v, ok := u.attrs[attrStrOffsetsBase]
	switch {
	case ok:
		return v.u
	case u.version < 5:
		return 0
	case u.wide:
		return 16
	}
	return 8
}

// address resolves an address attribute or value.
func (s *sections) address(u *unit, v value) (uint64, bool) {
	switch v.form {
	case formAddr:
		return v.u, true
	case formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGNUAddr:
		if v.u > uint64(len(s.addr)) {
			return 0, false
		}
		c := bytereader.At(s.addr, u.addrBase()+v.u*uint64(u.addrSize), s.order)
		a := c.Uint(u.addrSize)
		return a, !c.Short
	}
	return 0, false
}

func (u *unit) addrBase() uint64 {
	if b, ok := u.attrs[attrGNUAddrBase]; ok {
		return b.u
	}
	return u.attrs[attrAddrBase].u
}

// maxString is where strings are cut that others may refer to, since many can
// refer to one that does not end.
const maxString = 4 * maxPath

// textAt returns the string at an offset of a string section.
func textAt(section []byte, off uint64) []byte {
	c := bytereader.At(section, off, nil)
	b := c.Rest[:min(len(c.Rest), maxString)]
	if n := bytes.IndexByte(b, 0); n >= 0 {
		return b[:n]
	}
	if len(b) < maxString {
		return nil
	}
	return b
}
