package dwarf

import "stackmill/stages/loadobject/elf"

// WithData reads the sections that tell of data, too, and lets the walk over the
// units pass those of types.
func (d *Info) WithData() {
	s := d.Sections
	s.types = true
	s.loc, s.loclists = d.section(d.Source, "loc"), d.section(d.Source, "loclists")
	s.Bound()
}

// Alternate returns the sections of the file that dwz moved entries to.
func (d *Info) Alternate(f *elf.File) *Sections {
	s := &Sections{Order: f.Order, types: true, info: d.section(f, "info"), abbrev: d.section(f, "abbrev"), str: d.section(f, "str")}
	s.Bound()
	return s
}

// OldTypeUnits returns the sections to read the .debug_types of version 4 in, which
// has such units only; nil if there is none.
func (d *Info) OldTypeUnits() *Sections { return d.Sections.typesIn(d.section(d.Source, "types")) }

// SplitTypeUnits lets the walk over the units of a split file pass those of types,
// and returns what oldTypeUnits does of that file.
func (s *Sections) SplitTypeUnits() *Sections {
	s.types = true
	return s.typesIn(s.oldTypes)
}

func (s *Sections) typesIn(b []byte) *Sections {
	if len(b) == 0 {
		return nil
	}
	old := *s
	old.info, old.old, old.table = b, true, nil
	old.Bound()
	return &old
}

// PackedTypeUnits passes the sections of each unit of types that is in a package of
// split units, once one of those was looked for.
func (d *Info) PackedTypeUnits(use func(*Sections)) {
	if d.split.pack != nil {
		d.split.pack.typeUnits(use)
	}
}
