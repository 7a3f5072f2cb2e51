// Package build makes the table of a load object's types and variables from its debug
// information.
//
// debug/dwarf has types, too, but one for each entry: 226,000 of CPython's, of which
// 4,068 are distinct, in the 0.9 s of CPU time that this package needs for the whole
// table. It knows no variables, scopes or locations.
package build

import (
	debugelf "debug/elf"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/types"
)

// Table reads the types and variables of an object from its debug information, or
// from that of its separate debug file. A table with no type but void means that there
// is no debug information. Anything unreadable is in the table's notes; a damaged unit
// does not affect others. Missing are the files that were not found.
func Table(f, debug *elf.File) (t *types.Table, missing []string) {
	d := dwarf.New(f, debug)
	r := &reader{
		Info:       d,
		names:      map[string]string{},
		signatures: map[uint64]uint64{},
		numbered:   map[string]types.UnitNo{"": 0},
		unitNames:  []string{""},
		scopes:     make([]rawScope, 1),
		seen:       map[*dwarf.Sections]bool{},

		codeExtents: codeOf(f),
		dataExtents: dataOf(f),
	}
	switch {
	case !dwarf.Has(d.Source):
	case d.Source.Type == debugelf.ET_REL:
		d.Remarkf("the types of a relocatable object cannot be read before it is linked")
	default:
		r.read()
	}
	t = r.result()
	t.Notes = d.Notes()
	return t, d.Missing()
}

// maxData bounds the numbers of types, members, variables, places and scopes of one
// object. At this bound they take one or two gigabytes, and as much again while they
// become a table. Half a gigabyte of C++'s debug information has as many.
const maxData = 1 << 23

// reader collects what the entries say, in their order. They refer to each other by
// key: an entry's offset in .debug_info, as if the sections of all files were one
// after the other.
type reader struct {
	*dwarf.Info
	spans     []dwarf.Range // of the scope that is read
	base      uint64        // of the next section
	types     []rawType
	members   []rawMember
	counts    []int64 // of dimensions of arrays, -1 if unknown
	variables []rawVariable
	scopes    []rawScope // 0 is none
	code      []dwarf.Range
	places    []types.Place
	full      bool

	codeExtents, dataExtents extents // of the object

	names      map[string]string
	signatures map[uint64]uint64 // by the names of units of types
	signed     []signedType      // by the numbers that signatures has
	unitNames  []string
	numbered   map[string]types.UnitNo
	seen       map[*dwarf.Sections]bool // split sections whose units of types were read
	unknown    int                      // types in units or files that were not found
}

// read reads all units of all files.
func (r *reader) read() {
	supplement := r.Open()
	defer r.Close()
	r.LoadData()
	s := r.Sections
	r.place(s)
	if supplement != nil {
		defer supplement.Close()
		r.shared(supplement)
	}
	r.typeUnits(r.DebugTypes())
	s.Units(r.unit, func(off uint64, err error) {
		r.Damagedf(".debug_info", off, "the unit at offset %d of .debug_info cannot be read: %v", off, err)
	})
	r.PackageTypeUnits(func(s *dwarf.Sections) {
		r.place(s)
		s.Units(func(u *dwarf.Unit) { r.splitFailed(r.walk(u, s, s, 0)) }, func(uint64, error) {})
	})
}

// perByte bounds the bytes of names to read for each byte of .debug_info: C++ names
// are long, and units share them.
const perByte = 512

// place gives a section its keys, which follow those of the sections before.
func (r *reader) place(s *dwarf.Sections) {
	size := s.InfoSize()
	s.NameBytes = max(s.NameBytes, perByte*size)
	s.Base = r.base
	r.base += uint64(size)
}

// shared reads the supplementary file.
func (r *reader) shared(f *elf.File) {
	other := r.Sections.Supplement
	r.place(other)
	other.Units(func(u *dwarf.Unit) {
		if err := r.walk(u, other, other, 0); err != nil {
			r.Fail(f, err)
		}
	}, func(_ uint64, err error) { r.Fail(f, err) })
}

// typeUnits reads the .debug_types of version 4; nil for none.
func (r *reader) typeUnits(old *dwarf.Sections) {
	if old == nil {
		return
	}
	r.place(old)
	old.Units(func(u *dwarf.Unit) {
		if err := r.walk(u, old, old, 0); err != nil {
			r.Damagedf(".debug_types", u.Offset, "the unit at offset %d of .debug_types: %v", u.Offset, err)
		}
	}, func(off uint64, err error) {
		r.Damagedf(".debug_types", off, "the unit at offset %d of .debug_types cannot be read: %v", off, err)
	})
}

// unit reads a unit, or its split split.
func (r *reader) unit(u *dwarf.Unit) {
	s := r.Sections
	if r.SplitUnit(u, func(names *dwarf.Sections, split *dwarf.Unit) { r.splitUnit(u, split, names) }) {
		return
	}
	if err := r.walk(u, s, s, r.unitNumber(u, u, s)); err != nil {
		r.Damagedf(".debug_info", u.Offset, "the unit at offset %d of .debug_info: %v", u.Offset, err)
	}
}

// splitUnit reads the split of a unit that is in another file, but first the units of
// types there.
func (r *reader) splitUnit(u, split *dwarf.Unit, names *dwarf.Sections) {
	if !r.seen[names] {
		r.seen[names] = true
		r.place(names)
		old := names.SplitTypeUnits()
		names.Units(func(other *dwarf.Unit) {
			if other.Signature != 0 {
				r.splitFailed(r.walk(other, names, names, 0))
			}
		}, func(uint64, error) {})
		r.typeUnits(old)
	}
	linked := names.Join(split, u, r.Sections)
	if split.Version < 5 { // its ranges and addresses are in the linked file
		linked = r.Sections
	}
	r.splitFailed(r.walk(split, names, linked, r.unitNumber(u, split, names)))
}

func (r *reader) splitFailed(err error) {
	if err != nil {
		r.Fail(nil, &elf.DamageError{Offset: -1, Err: err})
	}
}

// unitNumber returns the number of a unit's name.
func (r *reader) unitNumber(u, split *dwarf.Unit, names *dwarf.Sections) types.UnitNo {
	name, _ := r.UnitName(u, split, names, "")
	n, ok := r.numbered[name]
	if !ok {
		n = types.UnitNo(len(r.unitNames))
		r.unitNames = append(r.unitNames, name)
		r.numbered[name] = n
	}
	return n
}

// textOf returns a string attribute; equal ones share their bytes.
func (r *reader) textOf(s *dwarf.Sections, u *dwarf.Unit, v dwarf.Value) string {
	if v.Form == 0 {
		return ""
	}
	if s.NameBytes <= 0 {
		r.full = true
		return ""
	}
	b := s.TextOf(u, v)
	b = b[:min(len(b), dwarf.MaxPath)]
	s.NameBytes -= len(b) + 1
	if name, ok := r.names[string(b)]; ok {
		return name
	}
	return r.keep(string(b))
}

// keep returns the copy of a name that is kept; empty if there are too many.
func (r *reader) keep(name string) string {
	if kept, ok := r.names[name]; ok {
		return kept
	}
	if !r.Room(len(name)) {
		r.full = true
		return ""
	}
	valid := dwarf.Valid(name)
	r.names[name] = valid
	return valid
}

// joined qualifies a name with the path of what encloses it.
func (r *reader) joined(path, name string) string {
	if path == "" || name == "" {
		return name
	}
	return r.keep(path + "::" + name)
}
