package debuginfo

import (
	"encoding/binary"
	"fmt"

	"stackmill/stages/symbolize/symtab/object"
)

// pack is a DWARF package: the sections of many split units, and an index that
// tells each unit's part of them (DWARF 5 section 7.3.5; version 2 is GNU's).
type pack struct {
	all  *sections
	rows map[uint64][parts]part
	left uint64 // bytes of .debug_info.dwo that units have not taken
}

type part struct{ offset, size uint32 }

// The parts of a unit that are used.
const (
	partInfo = iota
	partAbbrev
	partStrOffsets
	partLoclists // in version 2 of .debug_loc.dwo
	partRnglists // in version 2 it is of no use
	parts
)

// partOf are the index's column numbers, the same in both versions.
var partOf = map[uint32]int{1: partInfo, 3: partAbbrev, 5: partLoclists, 6: partStrOffsets, 8: partRnglists}

func newPack(f *object.File) (*pack, error) {
	bad := func(err error) (*pack, error) {
		return nil, &object.DamageError{Offset: -1, Err: fmt.Errorf("%s: .debug_cu_index: %w", f.Path, err)}
	}
	all, err := splitSections(f)
	if err != nil {
		return bad(err)
	}
	index, err := f.Debug("cu_index")
	if err != nil {
		return bad(err)
	}
	c := at(index, 0, f.Order)
	version := c.u32()
	if f.Order == binary.ByteOrder(binary.BigEndian) && version>>16 == 5 {
		version >>= 16
	}
	columns, units, slots := uint64(c.u32()), uint64(c.u32()), uint64(c.u32())
	if version != 2 && version != 5 {
		return bad(fmt.Errorf("unknown version %d", version))
	}
	if columns > 16 {
		return bad(fmt.Errorf("%d columns", columns))
	}
	ids := cursor{b: c.bytes(slots * 8), order: f.Order}
	numbers := cursor{b: c.bytes(slots * 4), order: f.Order}
	heads := cursor{b: c.bytes(columns * 4), order: f.Order}
	offsets, sizes := c.bytes(units*columns*4), c.bytes(units*columns*4)
	if c.short {
		return bad(errShort)
	}
	var column [16]uint32
	for i := range columns {
		column[i] = heads.u32()
	}
	p := &pack{all: all, rows: map[uint64][parts]part{}, left: uint64(len(all.info))}
	for range slots {
		id, n := ids.u64(), uint64(numbers.u32())
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
		p.rows[id] = row
	}
	return p, nil
}

// unit returns the sections of one unit, nil when the package lacks it. Units
// that overlap are left out.
func (p *pack) unit(id uint64) *sections {
	row, ok := p.rows[id]
	size := uint64(row[partInfo].size)
	if !ok || size > p.left {
		return nil
	}
	p.left -= size
	cut := func(section []byte, x part) []byte {
		c := at(section, uint64(x.offset), p.all.order)
		return c.bytes(uint64(x.size))
	}
	s := *p.all
	s.info = cut(p.all.info, row[partInfo])
	s.abbrev = cut(p.all.abbrev, row[partAbbrev])
	s.strOffsets = cut(p.all.strOffsets, row[partStrOffsets])
	s.rnglists = cut(p.all.rnglists, row[partRnglists])
	s.loc, s.loclists = cut(p.all.loc, row[partLoclists]), cut(p.all.loclists, row[partLoclists])
	s.table, s.bodies = nil, nil
	return &s
}
