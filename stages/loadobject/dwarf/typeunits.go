package dwarf

// LoadData prepares for reading variables: it loads the location lists, and makes Units include
// type units.
func (d *Info) LoadData() {
	s := d.Sections
	s.typeUnits = true
	s.loc, s.loclists = d.section(d.Source, "loc"), d.section(d.Source, "loclists")
	s.SetBudget()
	if s.Supplement != nil {
		s.Supplement.typeUnits = true
	}
}

// DebugTypes returns sections in which Units finds the type units of .debug_types (version 4); nil
// if there is no such section.
func (d *Info) DebugTypes() *Sections { return d.Sections.debugTypes(d.section(d.Source, "types")) }

// SplitTypeUnits makes Units include the type units of a split file. It returns sections for the
// file's .debug_types, like DebugTypes.
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

// PackageTypeUnits passes the sections of each type unit in the package of split units to use. It
// must be called after SplitUnit, which opens the package at the first skeleton unit.
func (d *Info) PackageTypeUnits(use func(*Sections)) {
	if d.split.pkg != nil {
		d.split.pkg.typeUnits(use)
	}
}
