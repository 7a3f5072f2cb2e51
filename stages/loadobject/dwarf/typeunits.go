package dwarf

// LoadData also reads the location lists, and makes Units pass type units.
func (d *Info) LoadData() {
	s := d.Sections
	s.typeUnits = true
	s.loc, s.loclists = d.section(d.Source, "loc"), d.section(d.Source, "loclists")
	s.SetBudget()
	if s.Supplement != nil {
		s.Supplement.typeUnits = true
	}
}

// DebugTypes returns sections whose units are the type units in .debug_types (version 4), nil if
// there is none.
func (d *Info) DebugTypes() *Sections { return d.Sections.debugTypes(d.section(d.Source, "types")) }

// SplitTypeUnits makes Units pass the type units of a split file. It returns the file's
// DebugTypes.
func (s *Sections) SplitTypeUnits() *Sections {
	s.typeUnits = true
	return s.debugTypes(s.typesDWO)
}

func (s *Sections) debugTypes(b []byte) *Sections {
	if len(b) == 0 {
		return nil
	}
	t := *s
	t.info, t.isDebugTypes, t.table = b, true, nil
	t.SetBudget()
	return &t
}

// PackageTypeUnits passes the sections of each type unit in the package of split
// units to use. The first call of SplitUnit for a skeleton unit opens the package.
func (d *Info) PackageTypeUnits(use func(*Sections)) {
	if d.split.pkg != nil {
		d.split.pkg.typeUnits(use)
	}
}
