package dwarf

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"stackmill/internal/bytereader"
	"stackmill/stages/loadobject/elf"
)

// pack is a DWARF package: the sections of many split units, and an index with each
// unit's part of them (DWARF 5 section 7.3.5; version 2 is GNU's).
type pack struct {
	all  *Sections
	rows map[uint64][parts]part
	left uint64 // bytes of .debug_info.dwo that no unit has used yet

	types     map[uint64][parts]part // of units of types, by signature
	leftTypes uint64
}

type part struct{ offset, size uint32 }

// The parts of a unit that are used.
const (
	partInfo  = iota
	partTypes // in version 5 they are with the others
	partAbbrev
	partStrOffsets
	partLoclists // in version 2 of .debug_loc.dwo
	partRnglists // not used in version 2
	parts
)

// partOf are the index's column numbers, the same in both versions.
var partOf = map[uint32]int{1: partInfo, 2: partTypes, 3: partAbbrev, 5: partLoclists, 6: partStrOffsets, 8: partRnglists}

func newPack(f *elf.File) (*pack, error) {
	bad := func(err error) (*pack, error) {
		return nil, &elf.DamageError{Offset: -1, Err: fmt.Errorf("%s: .debug_cu_index: %w", f.Path, err)}
	}
	all, err := splitSections(f)
	if err != nil {
		return bad(err)
	}
	p := &pack{all: all, left: uint64(len(all.info)), leftTypes: uint64(len(all.info) + len(all.oldTypes))}
	if p.rows, err = index(f, "cu_index"); err != nil {
		return bad(err)
	}
	if p.types, err = index(f, "tu_index"); err != nil {
		return bad(err)
	}
	return p, nil
}

// index reads the index of compilation units or that of units of types.
func index(f *elf.File, name string) (map[uint64][parts]part, error) {
	b, err := f.Debug(name)
	if err != nil || b == nil && name == "tu_index" {
		return nil, err
	}
	c := bytereader.New(b, f.Order)
	version := c.U32()
	if f.Order == binary.ByteOrder(binary.BigEndian) && version>>16 == 5 {
		version >>= 16
	}
	columns, units, slots := uint64(c.U32()), uint64(c.U32()), uint64(c.U32())
	if version != 2 && version != 5 {
		return nil, fmt.Errorf("unknown version %d", version)
	}
	if columns > 16 {
		return nil, fmt.Errorf("%d columns", columns)
	}
	ids := bytereader.New(c.Bytes(slots*8), f.Order)
	numbers := bytereader.New(c.Bytes(slots*4), f.Order)
	heads := bytereader.New(c.Bytes(columns*4), f.Order)
	offsets, sizes := c.Bytes(units*columns*4), c.Bytes(units*columns*4)
	if c.Short {
		return nil, ErrShort
	}
	var column [16]uint32
	for i := range columns {
		column[i] = heads.U32()
	}
	rows := map[uint64][parts]part{}
	for range slots {
		id, n := ids.U64(), uint64(numbers.U32())
		if n == 0 || n > units {
			continue
		}
		var row [parts]part
		for i := range columns {
			if k, ok := partOf[column[i]]; ok {
				cell := ((n-1)*columns + i) * 4
				row[k] = part{f.Order.Uint32(offsets[cell:]), f.Order.Uint32(sizes[cell:])}
			}
		}
		rows[id] = row
	}
	return rows, nil
}

// find returns the parts of a unit; false if the package, which may be nil, lacks it.
func (p *pack) find(id uint64) (row [parts]part, ok bool) {
	if p != nil {
		row, ok = p.rows[id]
	}
	return row, ok
}

// unit returns the sections of one unit, nil if the package lacks it. Units that
// overlap are left out.
func (p *pack) unit(id uint64) *Sections {
	row, ok := p.find(id)
	size := uint64(row[partInfo].size)
	if !ok || size > p.left {
		return nil
	}
	p.left -= size
	return p.cut(row)
}

// typeUnits passes the sections of each unit of types.
func (p *pack) typeUnits(use func(*Sections)) {
	signatures := slices.SortedFunc(maps.Keys(p.types), func(x, y uint64) int { // those that share abbreviations in a row
		return cmp.Or(cmp.Compare(p.types[x][partAbbrev].offset, p.types[y][partAbbrev].offset), cmp.Compare(x, y))
	})
	var last *Sections
	var before part
	for _, signature := range signatures {
		row := p.types[signature]
		size := uint64(row[partInfo].size) + uint64(row[partTypes].size)
		if size > p.leftTypes {
			return
		}
		p.leftTypes -= size
		s := p.cut(row)
		if row[partTypes].size > 0 {
			c := bytereader.At(p.all.oldTypes, uint64(row[partTypes].offset), p.all.Order)
			s.info, s.old = c.Bytes(uint64(row[partTypes].size)), true
		}
		if last != nil && before == row[partAbbrev] {
			s.table = last.table
		}
		last, before = s, row[partAbbrev]
		s.types = true
		use(s)
	}
}

// cut returns the sections' parts of one unit.
func (p *pack) cut(row [parts]part) *Sections {
	cut := func(section []byte, x part) []byte {
		c := bytereader.At(section, uint64(x.offset), p.all.Order)
		return c.Bytes(uint64(x.size))
	}
	s := *p.all
	s.info = cut(p.all.info, row[partInfo])
	s.abbrev = cut(p.all.abbrev, row[partAbbrev])
	s.strOffsets = cut(p.all.strOffsets, row[partStrOffsets])
	s.rnglists = cut(p.all.rnglists, row[partRnglists])
	s.loc, s.loclists = cut(p.all.loc, row[partLoclists]), cut(p.all.loclists, row[partLoclists])
	s.table, s.Known, s.oldTypes = nil, nil, nil
	return &s
}
