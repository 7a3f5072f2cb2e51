package dwarf

import (
	"bytes"
	debugelf "debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"stackmill/stages/loadobject/elf"
)

// split finds the other halves of skeleton units: in a package next to the
// object (`OBJECT.dwp`), or in `.dwo` files.
type split struct {
	missing []string // `.dwo` files
	noPack  []string // the package, if it is missing
	started bool
	folders []string // of the object
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
func (p *split) find(o *elf.File, dir, name string, id uint64, use func(*Sections, *Unit)) error {
	if !p.started {
		p.started, p.folders = true, o.Folders()
		if err := p.open(o, o.With(".dwp")); err != nil {
			return err
		}
	}
	if p.pack != nil {
		if s := p.pack.unit(id); s != nil {
			if u := s.byID()[id]; u != nil {
				use(s, u)
				return nil
			}
		}
	}
	if !path.IsAbs(name) {
		name = path.Join(dir, name)
	}
	files := o.Moved(name)
	for _, folder := range p.folders {
		files = append(files, path.Join(folder, path.Base(name)))
	}
	for _, file := range files {
		err := p.load(o, file)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return err
		}
		u := p.dwo.units[id]
		if u == nil {
			return fmt.Errorf("%s has no unit %#x: it belongs to another build", file, id)
		}
		delete(p.dwo.units, id)
		use(p.dwo.sections, u)
		return nil
	}
	p.missing = append(p.missing, name)
	return nil
}

// load opens the file that units are taken from next.
func (p *split) load(o *elf.File, file string) error {
	if p.dwo.path == file {
		return nil
	}
	if p.opened[file] == maxOpened {
		return fmt.Errorf("%s is opened too often: units alternate between files", file)
	}
	f, err := o.OpenBeside(file)
	if err != nil {
		return err
	}
	o.Beside = true
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

// open opens the first package that exists.
func (p *split) open(o *elf.File, files []string) error {
	for _, file := range files {
		f, err := o.OpenBeside(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		p.dwp = f
		p.pack, err = newPack(f)
		return err
	}
	p.noPack = files
	return nil
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
