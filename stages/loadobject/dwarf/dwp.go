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

// dwp is a DWARF package: the sections of many split units, and indexes that list each unit's parts
// of the sections (DWARF 5 section 7.3.5; version 2 is GNU's).
type dwp struct {
	all   *Sections
	units map[uint64]contributions // by unit id
	types map[uint64]contributions // type units by signature

	// The bytes that may still be read for compilation units and for type units: at first the sizes
	// of their sections. Units that overlap could add up to many times these sizes.
	left, leftTypes uint64
}

// contributions are a unit's parts of the sections.
type contributions [sectCount]contribution

type contribution struct{ offset, size uint32 }

// The used sections of a package.
const (
	sectInfo  = iota
	sectTypes // unused in version 5, whose type units are in .debug_info.dwo
	sectAbbrev
	sectStrOffsets
	sectLoclists // .debug_loc.dwo in version 2
	sectRnglists // unused in version 2
	sectCount
)

// sectByID maps the section ids in an index (DW_SECT) to sections. Both versions use the same ids.
var sectByID = map[uint32]int{1: sectInfo, 2: sectTypes, 3: sectAbbrev, 5: sectLoclists, 6: sectStrOffsets, 8: sectRnglists}

func newDWP(f *elf.File) (*dwp, error) {
	bad := func(err error) (*dwp, error) {
		return nil, &elf.DamageError{Offset: -1, Err: fmt.Errorf("%s: .debug_cu_index: %w", f.Path, err)}
	}
	all, err := splitSections(f)
	if err != nil {
		return bad(err)
	}
	p := &dwp{all: all, left: uint64(len(all.info)), leftTypes: uint64(len(all.info) + len(all.typesDWO))}
	if p.units, err = readIndex(f, "cu_index"); err != nil {
		return bad(err)
	}
	if p.types, err = readIndex(f, "tu_index"); err != nil {
		return bad(err)
	}
	return p, nil
}

// readIndex reads the index of compilation units or of type units.
func readIndex(f *elf.File, name string) (map[uint64]contributions, error) {
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
		return nil, fmt.Errorf("too many columns: %d", columns)
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
	rows := map[uint64]contributions{}
	for range slots {
		id, n := ids.U64(), uint64(numbers.U32())
		if n == 0 || n > units {
			continue
		}
		var row contributions
		for i := range columns {
			if k, ok := sectByID[column[i]]; ok {
				cell := ((n-1)*columns + i) * 4
				row[k] = contribution{f.Order.Uint32(offsets[cell:]), f.Order.Uint32(sizes[cell:])}
			}
		}
		rows[id] = row
	}
	return rows, nil
}

// unit returns the sections of a unit; nil if the package lacks it, or the units read so far
// overlap.
func (p *dwp) unit(id uint64) *Sections {
	row, ok := p.units[id]
	size := uint64(row[sectInfo].size)
	if !ok || size > p.left {
		return nil
	}
	p.left -= size
	return p.sections(row)
}

// typeUnits passes the sections of each type unit to use.
func (p *dwp) typeUnits(use func(*Sections)) {
	// Go through units with the same abbreviations in a row, so that these are read only once.
	signatures := slices.SortedFunc(maps.Keys(p.types), func(x, y uint64) int {
		return cmp.Or(cmp.Compare(p.types[x][sectAbbrev].offset, p.types[y][sectAbbrev].offset), cmp.Compare(x, y))
	})
	var last *Sections
	var lastAbbrev contribution
	for _, signature := range signatures {
		row := p.types[signature]
		size := uint64(row[sectInfo].size) + uint64(row[sectTypes].size)
		if size > p.leftTypes {
			return
		}
		p.leftTypes -= size
		s := p.sections(row)
		if row[sectTypes].size > 0 {
			s.info, s.isDebugTypes = p.part(p.all.typesDWO, row[sectTypes]), true
		}
		if last != nil && lastAbbrev == row[sectAbbrev] {
			s.table = last.table
		}
		last, lastAbbrev = s, row[sectAbbrev]
		s.typeUnits = true
		use(s)
	}
}

// part returns a unit's part of a section.
func (p *dwp) part(section []byte, x contribution) []byte {
	c := bytereader.At(section, uint64(x.offset), p.all.Order)
	return c.Bytes(uint64(x.size))
}

// sections returns a unit's parts of the sections.
func (p *dwp) sections(row contributions) *Sections {
	s := *p.all
	s.info = p.part(p.all.info, row[sectInfo])
	s.abbrev = p.part(p.all.abbrev, row[sectAbbrev])
	s.strOffsets = p.part(p.all.strOffsets, row[sectStrOffsets])
	s.rnglists = p.part(p.all.rnglists, row[sectRnglists])
	s.loc, s.loclists = p.part(p.all.loc, row[sectLoclists]), p.part(p.all.loclists, row[sectLoclists])
	s.table, s.Cache, s.typesDWO = nil, nil, nil
	return &s
}
