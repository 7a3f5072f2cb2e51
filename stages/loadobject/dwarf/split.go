package dwarf

import (
	"bytes"
	debugelf "debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"stackmill/stages/loadobject/elf"
)

// split finds the other halves of skeleton units: in a package (`OBJECT.dwp`), or in `.dwo`
// files.
type split struct {
	missing []string // `.dwo` files that were not found
	lacking int      // units without their other half
	reasons []lack
	noPack  []string // the packages, if there is none
	started bool
	dwp     *elf.File
	pack    *pack
	dwo     dwo
	opened  map[string]int // how often, by file
}

// dwo is the file of the last unit, since one file may hold the halves of all units.
type dwo struct {
	path     string
	file     *elf.File
	sections *Sections
	units    map[uint64]*Unit // by id, those not asked for yet
}

// maxOpened bounds how often one file is read: skeletons that name two files in
// turn would have them read over and over.
const maxOpened = 16

// find passes the split unit with an id, unless it is missing, and its sections.
// Neither must be used afterwards.
func (p *split) find(d *Info, dir, name string, id uint64, use func(*Sections, *Unit)) {
	if !p.started {
		p.started = true
		p.openPackage(d, id)
	}
	if p.pack != nil {
		if s := p.pack.unit(id); s != nil {
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
	if p.lacks(name, why); errors.Is(why, fs.ErrNotExist) {
		p.missing = append(p.missing, name)
	}
}

// load opens the file that units are taken from next.
func (p *split) load(o *elf.File, file string) error {
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

// openPackage opens the package that has a unit, or else the first one that can be read.
func (p *split) openPackage(d *Info, id uint64) {
	for _, file := range d.Object.DWPPaths(d.Source) {
		f, err := d.Object.OpenRelated(file)
		if errors.Is(err, fs.ErrNotExist) {
			if other := func(x string) bool { return path.Base(x) == path.Base(file) }; !slices.ContainsFunc(p.noPack, other) {
				p.noPack = append(p.noPack, file) // others of its name are looked for in all folders
			}
			continue
		}
		if err != nil {
			d.Fail(nil, err)
			continue
		}
		pack, err := newPack(f)
		if err != nil {
			d.Fail(nil, err)
		}
		_, found := pack.find(id)
		if err != nil || p.pack != nil && !found {
			f.Close()
			continue
		}
		if p.dwp != nil {
			p.dwp.Close()
		}
		if p.dwp, p.pack = f, pack; found {
			break
		}
	}
	if p.pack != nil {
		p.noPack = nil
	}
}

func (p *split) close() {
	p.dwo.close()
	if p.dwp != nil {
		p.dwp.Close()
	}
}

// splitSections reads the sections of split units.
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
	if s.info, err = groups(f, "info.dwo", s.info); err != nil {
		return nil, err
	}
	if s.oldTypes, err = groups(f, "types.dwo", nil); err != nil {
		return nil, err
	}
	s.Bound()
	return s, nil
}

// groups returns the content of all sections of a name: in files that are not
// linked, each unit of types has its own. It returns known if there is none.
func groups(f *elf.File, name string, known []byte) ([]byte, error) {
	var all [][]byte
	left := uint64(len(f.Bytes()))
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Name == ".debug_"+name && s.Type != debugelf.SHT_NOBITS {
			if s.Size > left { // compressed ones, too, may be many times as long
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

// Join gives a split unit its skeleton's addresses in the linked file. It returns the
// sections that have the ranges of its code.
func (s *Sections) Join(u, skeleton *Unit, linked *Sections) *Sections {
	for _, name := range []uint64{AttrLowPC, attrAddrBase, attrGNUAddrBase} {
		if v, ok := skeleton.Attrs[name]; ok {
			u.Attrs[name] = v
		}
	}
	if u.Version < 5 { // its ranges stay in the linked file
		u.rangesBase = skeleton.Attrs[attrGNURangesBase].Uint
		return linked
	}
	s.Addr = linked.Addr
	return s
}
