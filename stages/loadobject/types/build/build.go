// Package build builds the table of a load object's types and variables from its debug
// information.
//
// The standard library's debug/dwarf makes a type for each entry: for CPython 226,000, of which
// 4,068 are distinct. That takes it 0.9 s of CPU time, as long as this package needs for the whole
// table. It reads no variables, scopes or locations.
//
// Start reading with Table, then walk.go.
package build

import (
	debugdwarf "debug/dwarf"
	debugelf "debug/elf"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/types"
)

// Table reads the types and variables in the debug information of an object or of its separate
// debug file. Without debug information, the table's only type is void. Damage becomes a note in
// the table; a damaged unit does not affect others. missing lists the files that were not found.
func Table(f, debug *elf.File) (t *types.Table, missing []string) {
	d := dwarf.New(f, debug)
	r := &reader{
		Info:        d,
		names:       map[string]string{},
		signatures:  map[uint64]uint64{},
		unitNumbers: map[string]types.UnitNo{"": 0},
		unitNames:   []string{""},
		scopes:      make([]rawScope, 1),
		seen:        map[*dwarf.Sections]bool{},

		objectCode: codeOf(f),
		objectData: dataOf(f),
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

// maxData bounds each of the numbers of types, members, variables, places and scopes of one object.
// Half a gigabyte of C++ debug information reaches it. The table then takes one or two gigabytes,
// and as much again while it is built.
const maxData = 1 << 23

// reader collects the attributes of entries, in their order. Entries refer to each other by key: a
// key is the entry's offset in all files' .debug_info, as if these followed each other.
type reader struct {
	*dwarf.Info
	scratch   []dwarf.Range // code of the current scope
	base      uint64        // key of the start of the next section
	types     []rawType
	members   []rawMember
	counts    []int64 // elements of array dimensions, -1 if unknown
	variables []rawVariable
	scopes    []rawScope // 0 is none
	code      []dwarf.Range
	places    []types.Place
	full      bool

	objectCode, objectData addressSet // addresses of the load object's code and data

	names          map[string]string
	signatures     map[uint64]uint64 // signature of a type unit -> key of its type
	signatureTypes []signatureType   // indexed by the number in keys marked with bySignature
	unitNames      []string
	unitNumbers    map[string]types.UnitNo
	seen           map[*dwarf.Sections]bool // split sections whose type units were read
	unknown        int                      // types in units or files that were not found
}

// read reads all units of all files.
func (r *reader) read() {
	supplement := r.Open()
	defer r.Close()
	r.LoadData()
	s := r.Sections
	r.assignKeys(s)
	if supplement != nil {
		defer supplement.Close()
		r.readSupplement(supplement)
	}
	r.readDebugTypes(r.DebugTypes())
	s.Units(r.unit, func(off uint64, err error) {
		r.Damagedf(".debug_info", off, "the unit at offset %d of .debug_info cannot be read: %v", off, err)
	})
	r.PackageTypeUnits(func(s *dwarf.Sections) {
		r.readUnits(s, func(_ uint64, err error) { r.noteSplitError(err) }, func(uint64, error) {})
	})
}

// namesPerByte bounds the bytes of names for each byte of .debug_info: C++ names
// are long, and units share them.
const namesPerByte = 512

// assignKeys assigns keys to the entries of a section: they follow the keys of the sections before.
func (r *reader) assignKeys(s *dwarf.Sections) {
	size := s.InfoSize()
	s.NameBytes = max(s.NameBytes, namesPerByte*size)
	s.Base = r.base
	r.base += uint64(size)
}

func (r *reader) readSupplement(f *elf.File) {
	fail := func(_ uint64, err error) { r.Fail(f, err) }
	r.readUnits(r.Sections.Supplement, fail, fail)
}

// readUnits assigns keys to a section and reads its units. It passes a unit's error to bad, and an
// error that prevents finding the next unit to unreadable.
func (r *reader) readUnits(s *dwarf.Sections, bad, unreadable func(off uint64, err error)) {
	r.assignKeys(s)
	s.Units(func(u *dwarf.Unit) {
		if err := r.walk(u, s, s, 0); err != nil {
			bad(u.Offset, err)
		}
	}, unreadable)
}

// readDebugTypes reads .debug_types (DWARF 4); s is nil if there is none.
func (r *reader) readDebugTypes(s *dwarf.Sections) {
	if s == nil {
		return
	}
	r.readUnits(s, func(off uint64, err error) {
		r.Damagedf(".debug_types", off, "the unit at offset %d of .debug_types: %v", off, err)
	}, func(off uint64, err error) {
		r.Damagedf(".debug_types", off, "the unit at offset %d of .debug_types cannot be read: %v", off, err)
	})
}

// unit reads a unit, or the split unit that it refers to.
func (r *reader) unit(u *dwarf.Unit) {
	s := r.Sections
	if r.SplitUnit(u, func(names *dwarf.Sections, split *dwarf.Unit) { r.splitUnit(u, split, names) }) {
		return
	}
	if err := r.walk(u, s, s, r.unitNumber(u, u, s)); err != nil {
		r.Damagedf(".debug_info", u.Offset, "the unit at offset %d of .debug_info: %v", u.Offset, err)
	}
}

// splitUnit reads the split unit of u from its file, after the type units of that file.
func (r *reader) splitUnit(u, split *dwarf.Unit, names *dwarf.Sections) {
	if !r.seen[names] {
		r.seen[names] = true
		r.assignKeys(names)
		debugTypes := names.SplitTypeUnits()
		names.Units(func(other *dwarf.Unit) {
			if other.Signature != 0 {
				r.noteSplitError(r.walk(other, names, names, 0))
			}
		}, func(uint64, error) {})
		r.readDebugTypes(debugTypes)
	}
	linked := names.Join(split, u, r.Sections)
	if split.Version < 5 { // ranges and addresses are in the linked file
		linked = r.Sections
	}
	r.noteSplitError(r.walk(split, names, linked, r.unitNumber(u, split, names)))
}

func (r *reader) noteSplitError(err error) {
	if err != nil {
		r.Fail(nil, &elf.DamageError{Offset: -1, Err: err})
	}
}

// unitNumber returns the index of a unit's name in unitNames, and adds it if it is new.
func (r *reader) unitNumber(u, split *dwarf.Unit, names *dwarf.Sections) types.UnitNo {
	name, _ := r.UnitName(u, split, names, "")
	n, ok := r.unitNumbers[name]
	if !ok {
		n = types.UnitNo(len(r.unitNames))
		r.unitNames = append(r.unitNames, name)
		r.unitNumbers[name] = n
	}
	return n
}

// text returns a string attribute. Equal strings share their bytes.
func (w *unitWalk) text(e *entry, names ...debugdwarf.Attr) string {
	v := e.Get(names...)
	if v.Form == 0 {
		return ""
	}
	if w.s.NameBytes <= 0 {
		w.full = true
		return ""
	}
	b := w.s.TextOf(w.u, v)
	b = b[:min(len(b), dwarf.MaxPath)]
	w.s.NameBytes -= len(b) + 1
	if name, ok := w.names[string(b)]; ok { // without a copy
		return name
	}
	return w.internName(string(b))
}

// internName returns a name as valid UTF-8, empty if there is no room for it.
func (r *reader) internName(name string) string {
	if known, ok := r.names[name]; ok {
		return known
	}
	if !r.Room(len(name)) {
		r.full = true
		return ""
	}
	valid := dwarf.Valid(name)
	r.names[name] = valid
	return valid
}

// qualify puts the path of the enclosing scope before a name.
func (r *reader) qualify(path, name string) string {
	if path == "" || name == "" {
		return name
	}
	return r.internName(path + "::" + name)
}
