package dwarf

import "stackmill/stages/loadobject/elf"

// withData reads the sections that tell of data, too, and lets the walk over the
// units pass those of types.
func (d *info) withData() {
	s := d.sections
	s.types = true
	s.loc, s.loclists = d.section(d.source, "loc"), d.section(d.source, "loclists")
	s.bound()
}

// alternate returns the sections of the file that dwz moved entries to.
func (d *info) alternate(f *elf.File) *sections {
	s := &sections{order: f.Order, types: true, info: d.section(f, "info"), abbrev: d.section(f, "abbrev"), str: d.section(f, "str")}
	s.bound()
	return s
}

// oldTypeUnits returns the sections to read the .debug_types of version 4 in, which
// has such units only; nil if there is none.
func (d *info) oldTypeUnits() *sections { return d.sections.typesIn(d.section(d.source, "types")) }

// splitTypeUnits lets the walk over the units of a split file pass those of types,
// and returns what oldTypeUnits does of that file.
func (s *sections) splitTypeUnits() *sections {
	s.types = true
	return s.typesIn(s.oldTypes)
}

func (s *sections) typesIn(b []byte) *sections {
	if len(b) == 0 {
		return nil
	}
	old := *s
	old.info, old.old, old.table = b, true, nil
	old.bound()
	return &old
}

// packedTypeUnits passes the sections of each unit of types that is in a package of
// split units, once one of those was looked for.
func (d *info) packedTypeUnits(use func(*sections)) {
	if d.split.pack != nil {
		d.split.pack.typeUnits(use)
	}
}
