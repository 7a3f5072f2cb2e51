package debuginfo

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// sections are the parts of one file's debug information.
type sections struct {
	order                                        binary.ByteOrder
	info, abbrev, str, lineStr, strOffsets, addr []byte
	line, ranges, rnglists                       []byte
	altStr                                       []byte // .debug_str of the file that dwz moved strings to

	decls map[declKey]decl
	// Bounds for input whose units share what they should not: bytes of
	// .debug_abbrev to search, range list entries to read, and bytes of line
	// number programs to run.
	scan, entries, program int
}

// unit is a compilation unit: its header and its first entry.
type unit struct {
	format
	offset uint64 // in .debug_info
	dwoID  uint64
	attrs  map[uint64]value
}

// The attributes that are used.
const (
	attrName           = 0x03
	attrStmtList       = 0x10
	attrLowPC          = 0x11
	attrHighPC         = 0x12
	attrLanguage       = 0x13
	attrCompDir        = 0x1b
	attrRanges         = 0x55
	attrStrOffsetsBase = 0x72
	attrAddrBase       = 0x73
	attrRnglistsBase   = 0x74
	attrDwoName        = 0x76
	attrGNUDwoName     = 0x2130
	attrGNUDwoID       = 0x2131
	attrGNUAddrBase    = 0x2133
)

// The unit types of DWARF 5 whose headers have more than the common fields.
const (
	unitType         = 2
	unitSkeleton     = 4
	unitSplitCompile = 5
	unitSplitType    = 6
)

const (
	tagCompileUnit  = 0x11
	tagPartialUnit  = 0x3c
	tagSkeletonUnit = 0x4a
)

var errShort = errors.New("runs beyond its end")

// units calls f for each compilation unit of .debug_info. A unit that cannot be
// read is passed to bad and left out; only a wrong length ends the walk.
func (s *sections) units(f func(*unit), bad func(off uint64, err error)) {
	for off := uint64(0); off < uint64(len(s.info)); {
		c := at(s.info, off, s.order)
		n, wide := c.length()
		head := uint64(4)
		if wide {
			head = 12
		}
		body := cursor{b: c.bytes(n), order: s.order}
		if c.short {
			bad(off, errShort)
			return
		}
		u, err := s.unit(off, body, wide)
		switch {
		case err != nil:
			bad(off, err)
		case u != nil:
			f(u)
		}
		off += head + n
	}
}

// unit reads a unit's header and first entry (DWARF 5 section 7.5.1); nil for
// units that hold no code.
func (s *sections) unit(off uint64, c cursor, wide bool) (*unit, error) {
	u := &unit{offset: off, format: format{version: int(c.u16()), wide: wide}}
	if u.version < 2 || u.version > 5 {
		return nil, fmt.Errorf("unknown version %d", u.version)
	}
	var kind uint8
	var abbrev uint64
	if u.version == 5 {
		kind = c.u8()
		u.addrSize = int(c.u8())
		abbrev = c.offset(wide)
	} else {
		abbrev = c.offset(wide)
		u.addrSize = int(c.u8())
	}
	switch kind {
	case unitType, unitSplitType:
		return nil, nil
	case unitSkeleton, unitSplitCompile:
		u.dwoID = c.u64()
	}
	if u.addrSize != 4 && u.addrSize != 8 && u.addrSize != 2 {
		return nil, fmt.Errorf("address size %d", u.addrSize)
	}
	code := c.uleb()
	if code == 0 {
		return nil, nil
	}
	d, err := s.decl(abbrev, code)
	if err != nil {
		return nil, err
	}
	if d.tag != tagCompileUnit && d.tag != tagSkeletonUnit && d.tag != tagPartialUnit {
		return nil, nil
	}
	u.attrs = make(map[uint64]value, len(d.attrs))
	for _, a := range d.attrs {
		v := value{form: a.form, u: uint64(a.implicit)}
		if a.form != formImplicit {
			var ok bool
			if v, ok = c.value(a.form, u.format); !ok {
				return nil, fmt.Errorf("unknown form %#x", a.form)
			}
		}
		u.attrs[a.name] = v
	}
	if c.short {
		return nil, errShort
	}
	if v, ok := u.attrs[attrGNUDwoID]; ok {
		u.dwoID = v.u
	}
	return u, nil
}

// decl is an abbreviation declaration.
type decl struct {
	tag   uint64
	attrs []attrDecl
}

type attrDecl struct {
	name, form uint64
	implicit   int64
}

type declKey struct{ table, code uint64 }

// maxAttrs bounds the attributes of a unit's entry; compilers give some 15.
const maxAttrs = 256

// decl finds the declaration of a code. Units that share a table share the
// search, and all searches together are bounded: tables may overlap.
func (s *sections) decl(table, code uint64) (decl, error) {
	key := declKey{table, code}
	if d, ok := s.decls[key]; ok {
		return d, nil
	}
	c := at(s.abbrev, table, s.order)
	for {
		before := len(c.b)
		got := c.uleb()
		if got == 0 || c.short {
			return decl{}, fmt.Errorf("no abbreviation %d in the table at offset %d", code, table)
		}
		d := decl{tag: c.uleb()}
		c.u8() // whether it has children
		for {
			a := attrDecl{name: c.uleb(), form: c.uleb()}
			if a.form == formImplicit {
				a.implicit = c.sleb()
			}
			if a.name == 0 && a.form == 0 {
				break
			}
			if len(d.attrs) == maxAttrs {
				return decl{}, fmt.Errorf("more than %d attributes", maxAttrs)
			}
			if got == code {
				d.attrs = append(d.attrs, a)
			}
		}
		if c.short {
			return decl{}, fmt.Errorf("the abbreviations at offset %d run beyond their end", table)
		}
		if s.scan -= before - len(c.b); s.scan < 0 {
			return decl{}, errors.New("the abbreviation tables overlap")
		}
		if got == code {
			if s.decls == nil {
				s.decls = map[declKey]decl{}
			}
			s.decls[key] = d
			return d, nil
		}
	}
}

// text resolves a string attribute; empty when there is none.
func (s *sections) text(u *unit, attr uint64) []byte {
	v, ok := u.attrs[attr]
	if !ok {
		return nil
	}
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
		size := uint64(4)
		if u.wide {
			size = 8
		}
		if v.u > uint64(len(s.strOffsets)) {
			return nil
		}
		c := at(s.strOffsets, u.strOffsetsBase()+v.u*size, s.order)
		return textAt(s.str, c.offset(u.wide))
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
		base := u.attrs[attrAddrBase].u
		if b, ok := u.attrs[attrGNUAddrBase]; ok {
			base = b.u
		}
		c := at(s.addr, base+v.u*uint64(u.addrSize), s.order)
		a := c.uint(u.addrSize)
		return a, !c.short
	}
	return 0, false
}
