package dwarf

import (
	"bytes"
	debugdwarf "debug/dwarf"
	debugelf "debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"stackmill/stages/loadobject/elf"
)

// splitUnits finds the split units of skeleton units in a package (`OBJECT.dwp`) or in `.dwo` files.
type splitUnits struct {
	missing         []string // `.dwo` files that were not found
	missingUnits    int
	reasons         []missingReason
	missingPackages []string // candidate paths, if no package was found
	started         bool
	pkgFile         *elf.File
	pkg             *dwp // nil if there is none
	dwo             dwo
	opened          map[string]int // how often each file was opened
}

// dwo is the file that had the split unit found last. It may contain the split units of all
// skeleton units.
type dwo struct {
	path     string
	file     *elf.File
	sections *Sections
	units    map[uint64]*Unit // by id, without those already used
}

// maxOpened bounds how often one file is read: hostile skeleton units could alternate between
// two files.
const maxOpened = 16

// find finds the split unit with an id, and passes it and its sections to use, unless it is
// missing. Both are valid only during the call.
func (p *splitUnits) find(d *Info, dir, name string, id uint64, use func(*Sections, *Unit)) {
	if !p.started {
		p.started = true
		p.openPackage(d, id)
	}
	if p.pkg != nil {
		if s := p.pkg.unit(id); s != nil {
			if u := s.byID()[id]; u != nil {
				use(s, u)
				return
			}
		}
	}
	if !path.IsAbs(name) {
		name = path.Clean(name)
	}
	files := d.Object.DWOPaths(dir, name)
	if d.Source != d.Object {
		files = append(files, d.Source.DWOPaths(dir, name)...)
	}
	why := error(fs.ErrNotExist)
	for _, file := range files {
		err := p.load(d.Object, file)
		if err == nil {
			if u := p.dwo.units[id]; u != nil {
				delete(p.dwo.units, id)
				use(p.dwo.sections, u)
				return
			}
			err = elf.ErrOtherBuild
		}
		if damage := (*elf.DamageError)(nil); errors.As(err, &damage) {
			d.Fail(nil, err)
		}
		if errors.Is(why, fs.ErrNotExist) {
			why = err
		}
	}
	if !path.IsAbs(name) {
		name = path.Join(dir, name)
	}
	if p.noteMissing(name, why); errors.Is(why, fs.ErrNotExist) {
		p.missing = append(p.missing, name)
	}
}

// load makes p.dwo the given `.dwo` file.
func (p *splitUnits) load(o *elf.File, file string) error {
	if p.dwo.path == file {
		return nil
	}
	if p.opened[file] == maxOpened {
		return fmt.Errorf("%s is opened too often: units alternate between files", file)
	}
	f, err := o.OpenRelated(file)
	if err != nil {
		return err
	}
	o.UsedDWO = true
	if p.opened == nil {
		p.opened = map[string]int{}
	}
	p.opened[file]++
	s, err := splitSections(f)
	if err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", file, err)
	}
	p.dwo.close()
	p.dwo = dwo{file, f, s, s.byID()}
	return nil
}

func (d *dwo) close() {
	if d.file != nil {
		d.file.Close()
	}
}

// openPackage opens the package that contains the unit with an id, or else the first readable
// package.
func (p *splitUnits) openPackage(d *Info, id uint64) {
	for _, file := range d.Object.DWPPaths(d.Source) {
		f, err := d.Object.OpenRelated(file)
		if errors.Is(err, fs.ErrNotExist) {
			// Missing files are later looked for by name in all folders: keep only one path for
			// each name.
			if sameName := func(x string) bool { return path.Base(x) == path.Base(file) }; !slices.ContainsFunc(p.missingPackages, sameName) {
				p.missingPackages = append(p.missingPackages, file)
			}
			continue
		}
		if err != nil {
			d.Fail(nil, err)
			continue
		}
		pkg, err := newDWP(f)
		if err != nil {
			d.Fail(nil, err)
			f.Close()
			continue
		}
		_, found := pkg.units[id]
		if p.pkg != nil && !found {
			f.Close()
			continue
		}
		if p.pkgFile != nil {
			p.pkgFile.Close()
		}
		if p.pkgFile, p.pkg = f, pkg; found {
			break
		}
	}
	if p.pkg != nil {
		p.missingPackages = nil
	}
}

func (p *splitUnits) close() {
	p.dwo.close()
	if p.pkgFile != nil {
		p.pkgFile.Close()
	}
}

// splitSections reads the sections of split units in a `.dwo` file or a package.
func splitSections(f *elf.File) (*Sections, error) {
	s := &Sections{Order: f.Order}
	for _, x := range []struct {
		name string
		to   *[]byte
	}{
		{"info.dwo", &s.info}, {"abbrev.dwo", &s.abbrev}, {"str.dwo", &s.str}, {"str_offsets.dwo", &s.strOffsets},
		{"rnglists.dwo", &s.rnglists}, {"loc.dwo", &s.loc}, {"loclists.dwo", &s.loclists},
	} {
		b, err := f.Debug(x.name)
		if err != nil {
			return nil, err
		}
		*x.to = b
	}
	var err error
	if s.info, err = joinSections(f, "info.dwo", s.info); err != nil {
		return nil, err
	}
	if s.typesDWO, err = joinSections(f, "types.dwo", nil); err != nil {
		return nil, err
	}
	s.SetBudget()
	return s, nil
}

// joinSections returns the joined contents of all sections with a name, or known if there is none.
// A file that is not linked has a section for each type unit.
func joinSections(f *elf.File, name string, known []byte) ([]byte, error) {
	var all [][]byte
	left := uint64(len(f.Bytes()))
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Name == ".debug_"+name && s.Type != debugelf.SHT_NOBITS {
			if s.Size > left { // else overlapping sections could add up to many times the file's size
				return nil, fmt.Errorf("its sections .debug_%s overlap", name)
			}
			left -= s.Size
			b, err := f.Data(s)
			if err != nil {
				return nil, err
			}
			all = append(all, b)
		}
	}
	switch len(all) {
	case 0:
		return known, nil
	case 1:
		return all[0], nil
	}
	return bytes.Join(all, nil), nil
}

// byID returns the units by their ids.
func (s *Sections) byID() map[uint64]*Unit {
	units := map[uint64]*Unit{}
	s.Units(func(u *Unit) {
		if units[u.dwoID] == nil {
			units[u.dwoID] = u
		}
	}, func(uint64, error) {})
	return units
}

// Join copies to a split unit the address attributes of its skeleton unit, which is in the linked
// file. It returns the sections to pass to Ranges for the split unit's code.
func (s *Sections) Join(u, skeleton *Unit, linked *Sections) *Sections {
	for _, name := range []debugdwarf.Attr{debugdwarf.AttrLowpc, debugdwarf.AttrAddrBase, attrGNUAddrBase} {
		if v := skeleton.Attrs.Get(name); v.Form != 0 {
			u.Attrs = append(u.Attrs, attribute{name, v})
		}
	}
	if u.Version < 5 { // the ranges stay in the linked file
		u.rangesBase = skeleton.Attrs.Get(attrGNURangesBase).Uint
		return linked
	}
	s.Addr = linked.Addr
	return s
}
