package dwarf

import (
	"bytes"
	debugdwarf "debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"

	"stackmill/internal/bytereader"
)

// Sections are the debug information sections of one file.
type Sections struct {
	Order                                        binary.ByteOrder
	info, abbrev, str, lineStr, strOffsets, Addr []byte
	Line, ranges, rnglists, loc, loclists        []byte
	typesDWO                                     []byte    // .debug_types.dwo of version 4
	Supplement                                   *Sections // sections of the supplementary file, nil without one

	table *abbrevTable // the table that was read last
	Cache any          // package inlines' data about the sections
	*budget

	typeUnits    bool   // Units passes type units, too
	isDebugTypes bool   // info is .debug_types of version 4, in which all units are type units
	Base         uint64 // added to offsets in .debug_info, so that they differ between files
}

// budget bounds the work for hostile files, whose units share tables and lists. It has what may
// still be read: bytes of .debug_abbrev, entries of range and location lists, bytes of line number
// programs, and bytes of functions' entries and names. Well-formed files need each table and list
// only once. If their units alternate between abbreviation tables, they need at most as many bytes
// of these as the file has.
type budget struct{ abbrevBytes, listEntries, ProgramBytes, NameBytes int }

// SetBudget gives the sections a budget in proportion to their lengths.
func (s *Sections) SetBudget() {
	s.budget = &budget{
		abbrevBytes:  2*len(s.abbrev) + 8*len(s.info) + 1<<16,
		listEntries:  len(s.ranges) + len(s.rnglists) + len(s.loc) + len(s.loclists),
		ProgramBytes: len(s.Line),
		NameBytes:    64*len(s.info) + 1<<16,
	}
}

// Unit is a unit: its header and its first entry.
type Unit struct {
	Format
	Offset       uint64 // in .debug_info
	Size         uint64 // including the header
	dwoID        uint64
	Attrs        Attrs
	abbrevOffset uint64            // in .debug_abbrev
	entries      bytereader.Reader // the entries after the first one; empty if that has no children

	rangesBase uint64 // for a split unit: added to its offsets in .debug_ranges

	Signature, TypeOffset uint64 // for a type unit: its signature, and its type's offset in the unit
}

// The unit types of DWARF 5 whose headers have additional fields (DW_UT).
const (
	utType         = 2
	utSkeleton     = 4
	utSplitCompile = 5
	utSplitType    = 6
)

// ErrShort means that a table, unit or entry extends beyond the end of what contains it.
var ErrShort = errors.New("the content extends beyond the end")

// Units calls f for each unit of .debug_info. It passes the errors of unreadable units to bad and
// continues with the next unit; only a wrong length of a unit ends the walk.
func (s *Sections) Units(f func(*Unit), bad func(off uint64, err error)) {
	for off := uint64(0); off < uint64(len(s.info)); {
		c := bytereader.At(s.info, off, s.Order)
		n, wide := c.Length()
		head := uint64(4)
		if wide {
			head = 12
		}
		body := c.Sub(n)
		if c.Short {
			bad(off, ErrShort)
			return
		}
		u, err := s.unit(body, wide)
		switch {
		case err != nil:
			bad(off, err)
		case u != nil:
			u.Offset, u.Size = off, head+n
			f(u)
		}
		off += head + n
	}
}

// unit reads a unit's header and first entry (DWARF 5 section 7.5.1). It returns nil for a unit that
// Units omits.
func (s *Sections) unit(c bytereader.Reader, wide bool) (*Unit, error) {
	u := &Unit{Format: Format{Version: int(c.U16()), Wide: wide}}
	if u.Version < 2 || u.Version > 5 {
		return nil, fmt.Errorf("unknown version %d", u.Version)
	}
	if !s.header(u, &c) {
		return nil, nil
	}
	if u.AddrSize != 4 && u.AddrSize != 8 && u.AddrSize != 2 {
		return nil, fmt.Errorf("unknown address size %d", u.AddrSize)
	}
	code := c.ULEB()
	if code == 0 {
		return nil, nil
	}
	d := s.abbrevTable(u).get(code)
	if d == nil {
		return nil, fmt.Errorf("no abbreviation %d in the table at offset %d", code, u.abbrevOffset)
	}
	switch d.Tag {
	case debugdwarf.TagCompileUnit, debugdwarf.TagSkeletonUnit, debugdwarf.TagPartialUnit, debugdwarf.TagTypeUnit:
		return u, u.readFirstEntry(d, c)
	}
	return nil, nil
}

// header reads a unit's header after the version; false for a unit that Units omits.
func (s *Sections) header(u *Unit, c *bytereader.Reader) bool {
	var kind uint8
	if u.Version == 5 {
		kind = c.U8()
		u.AddrSize = int(c.U8())
		u.abbrevOffset = c.Offset(u.Wide)
	} else {
		u.abbrevOffset = c.Offset(u.Wide)
		u.AddrSize = int(c.U8())
	}
	switch kind {
	case utType, utSplitType:
		if !s.typeUnits {
			return false
		}
		u.Signature, u.TypeOffset = c.U64(), c.Offset(u.Wide)
	case utSkeleton, utSplitCompile:
		u.dwoID = c.U64()
	}
	if s.isDebugTypes {
		u.Signature, u.TypeOffset = c.U64(), c.Offset(u.Wide)
	}
	return true
}

// readFirstEntry reads the attributes of a unit's first entry.
func (u *Unit) readFirstEntry(d *Abbrev, c bytereader.Reader) (err error) {
	if u.Attrs, err = u.Format.Attributes(&c, d, nil); err != nil {
		return err
	}
	if c.Short {
		return ErrShort
	}
	if v := u.Attrs.Get(attrGNUDwoID); v.Form != 0 {
		u.dwoID = v.Uint
	}
	if d.Children {
		u.entries = c
	}
	return nil
}

// Text returns the string in an attribute of the unit's first entry, empty if it has none.
func (s *Sections) Text(u *Unit, attr debugdwarf.Attr) []byte {
	return s.TextOf(u, u.Attrs.Get(attr))
}

// InfoSize returns the length of .debug_info.
func (s *Sections) InfoSize() int { return len(s.info) }

// DwoName returns the name of the `.dwo` file of a skeleton unit, nil for other units.
func (s *Sections) DwoName(u *Unit) []byte {
	return s.TextOf(u, u.Attrs.Get(debugdwarf.AttrDwoName, attrGNUDwoName))
}

// TextOf returns the string of a value, empty if it is not a string.
func (s *Sections) TextOf(u *Unit, v Value) []byte {
	switch v.Form {
	case formString:
		return v.Bytes
	case formStrp:
		return TextAt(s.str, v.Uint)
	case formLineStrp:
		return TextAt(s.lineStr, v.Uint)
	case formStrpSup, formGNUStrpAlt:
		if s.Supplement == nil {
			return nil
		}
		return TextAt(s.Supplement.str, v.Uint)
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGNUStrIndex:
		if v.Uint > uint64(len(s.strOffsets)) {
			return nil
		}
		c := bytereader.At(s.strOffsets, u.StrOffsetsBase()+v.Uint*u.offsetSize(), s.Order)
		return TextAt(s.str, c.Offset(u.Wide))
	}
	return nil
}

// StrOffsetsBase returns the offset of the unit's table in .debug_str_offsets. A split unit has no
// attribute for it: there, the table follows the section's header, which version 5 added.
func (u *Unit) StrOffsetsBase() uint64 {
	v := u.Attrs.Get(debugdwarf.AttrStrOffsetsBase)
	switch {
	case v.Form != 0:
		return v.Uint
	case u.Version < 5:
		return 0
	case u.Wide:
		return 16
	}
	return 8
}

// Address returns the address that a value is or refers to; false if it is not an address.
func (s *Sections) Address(u *Unit, v Value) (uint64, bool) {
	switch v.Form {
	case formAddr:
		return v.Uint, true
	case FormAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGNUAddrIndex:
		if v.Uint > uint64(len(s.Addr)) {
			return 0, false
		}
		base := u.Attrs.Get(debugdwarf.AttrAddrBase, attrGNUAddrBase).Uint
		c := bytereader.At(s.Addr, base+v.Uint*uint64(u.AddrSize), s.Order)
		a := c.Uint(u.AddrSize)
		return a, !c.Short
	}
	return 0, false
}

// maxString bounds a string in bytes, because many attributes can refer to one endless string.
const maxString = 4 * MaxPath

// TextAt returns the string at an offset of a string section, at most maxString bytes of it; nil if
// the section ends before the string does.
func TextAt(section []byte, off uint64) []byte {
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
