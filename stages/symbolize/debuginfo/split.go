package debuginfo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"stackmill/stages/symbolize/symtab/object"
)

// split finds the other halves of skeleton units: in a package next to the
// object (`OBJECT.dwp`), or in one `.dwo` file per unit.
type split struct {
	missing []string // `.dwo` files
	noPack  string   // the package, when it is missing
	opened  bool
	dwp     *object.File
	pack    *pack
}

// find reads the name and language of the split unit with the id.
func (p *split) find(objectPath, dir, dwo string, id uint64) (name []byte, lang uint64, err error) {
	if !p.opened {
		p.opened = true
		if err := p.open(objectPath + ".dwp"); err != nil {
			return nil, 0, err
		}
	}
	if p.pack != nil {
		if s := p.pack.unit(id); s != nil {
			name, lang, ok := s.named(id)
			if ok {
				return name, lang, nil
			}
		}
	}
	where := dwo
	if !path.IsAbs(where) {
		where = path.Join(dir, dwo)
	}
	for _, file := range []string{where, filepath.Join(filepath.Dir(objectPath), path.Base(dwo))} {
		f, err := object.Open(file)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		defer f.Close()
		s, err := splitSections(f)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", file, err)
		}
		name, lang, ok := s.named(id)
		if !ok {
			return nil, 0, fmt.Errorf("%s holds no unit %#x: it is of another build", file, id)
		}
		return append([]byte(nil), name...), lang, nil
	}
	p.missing = append(p.missing, where)
	return nil, 0, nil
}

func (p *split) open(file string) error {
	f, err := object.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		p.noPack = file
		return nil
	}
	if err != nil {
		return err
	}
	p.dwp = f
	p.pack, err = newPack(f)
	return err
}

func (p *split) close() {
	if p.dwp != nil {
		p.dwp.Close()
	}
}

// splitSections reads the sections that name a split unit.
func splitSections(f *object.File) (*sections, error) {
	s := &sections{order: f.Order}
	for _, x := range []struct {
		name string
		to   *[]byte
	}{
		{"info.dwo", &s.info}, {"abbrev.dwo", &s.abbrev}, {"str.dwo", &s.str}, {"str_offsets.dwo", &s.strOffsets},
	} {
		b, err := f.Debug(x.name)
		if err != nil {
			return nil, err
		}
		*x.to = b
	}
	s.bound()
	return s, nil
}

// named returns name and language of the unit with the id.
func (s *sections) named(id uint64) (name []byte, lang uint64, ok bool) {
	s.units(func(u *unit) {
		if u.dwoID == id && !ok {
			name, lang, ok = s.text(u, attrName), u.attrs[attrLanguage].u, true
		}
	}, func(uint64, error) {})
	return name, lang, ok
}

// pack is a DWARF package: the sections of many split units, and an index that
// tells each unit's part of them (DWARF 5 section 7.3.5; version 2 is GNU's).
type pack struct {
	all  *sections
	rows map[uint64][3]part
}

type part struct{ offset, size uint32 }

// The parts of a unit that are used.
const (
	partInfo = iota
	partAbbrev
	partStrOffsets
)

// partOf are the index's column numbers, the same in both versions.
var partOf = map[uint32]int{1: partInfo, 3: partAbbrev, 6: partStrOffsets}

func newPack(f *object.File) (*pack, error) {
	bad := func(err error) (*pack, error) { return nil, fmt.Errorf("%s: .debug_cu_index: %w", f.Path, err) }
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
	p := &pack{all: all, rows: map[uint64][3]part{}}
	for range slots {
		id, n := ids.u64(), uint64(numbers.u32())
		if n == 0 || n > units {
			continue
		}
		var row [3]part
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

// unit returns the sections of one unit, nil when the package lacks it.
func (p *pack) unit(id uint64) *sections {
	row, ok := p.rows[id]
	if !ok {
		return nil
	}
	cut := func(section []byte, x part) []byte {
		c := at(section, uint64(x.offset), p.all.order)
		return c.bytes(uint64(x.size))
	}
	s := &sections{
		order:      p.all.order,
		info:       cut(p.all.info, row[partInfo]),
		abbrev:     cut(p.all.abbrev, row[partAbbrev]),
		str:        p.all.str,
		strOffsets: cut(p.all.strOffsets, row[partStrOffsets]),
	}
	s.bound()
	return s
}
