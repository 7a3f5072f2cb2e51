package dwarf

// WithData also reads the sections about data, and makes Units pass units of types.
func (d *Info) WithData() {
	s := d.Sections
	s.types = true
	s.loc, s.loclists = d.section(d.Source, "loc"), d.section(d.Source, "loclists")
	s.Bound()
	if s.Supplement != nil {
		s.Supplement.types = true
	}
}

// OldTypeUnits returns sections whose units are those in .debug_types, which version 4
// has; nil if there is none.
func (d *Info) OldTypeUnits() *Sections { return d.Sections.typesIn(d.section(d.Source, "types")) }

// SplitTypeUnits makes Units pass the units of types of a split file, and returns
// what OldTypeUnits does for that file.
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

// PackedTypeUnits passes the sections of each unit of types in the package of split
// units. The package is known once Half was called for a skeleton unit.
func (d *Info) PackedTypeUnits(use func(*Sections)) {
	if d.split.pack != nil {
		d.split.pack.typeUnits(use)
	}
}
