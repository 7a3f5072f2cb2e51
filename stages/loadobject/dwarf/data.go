package dwarf

import (
	debugelf "debug/elf"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/types"
)

// Data reads what the debug information of an object, or of its separate debug
// file, tells about its data. A table without types but that of nothing means
// that there is no debug information. What cannot be read is in the table's
// notes; a bad unit loses itself only. Missing are the files that would tell more.
func Data(f, debug *elf.File) (t *types.Table, missing []string) {
	d := newInfo(f, debug)
	r := &dataReader{
		info:       d,
		names:      map[string]string{},
		signatures: map[uint64]uint64{},
		numbered:   map[string]int32{"": 0},
		unitNames:  []string{""},
		scopes:     make([]rawScope, 1),
		seen:       map[*sections]bool{},

		codeExtents: codeOf(f),
		dataExtents: dataOf(f),
	}
	switch {
	case !Has(d.source):
	case d.source.Type == debugelf.ET_REL:
		d.remarkf("the types of a relocatable object cannot be read before it is linked")
	default:
		r.read()
	}
	t = r.result()
	t.Notes = d.report()
	return t, d.missing()
}

// maxData bounds the types, members, variables, places and scopes of one object,
// each: together they take a gigabyte or two then, and as much again while they
// are made a table. Half a gigabyte of C++'s debug information has as many.
const maxData = 1 << 23

// dataReader collects what the entries say, and in what order: they refer to
// each other by key, which is an entry's offset in .debug_info, where the
// sections of several files are thought one behind the other.
type dataReader struct {
	*info
	spans     []span // of the scope that is read
	base      uint64 // of the next section
	types     []rawType
	members   []rawMember
	counts    []int64 // of dimensions of arrays, -1 when not known
	variables []rawVariable
	scopes    []rawScope // 0 is none
	code      []span
	places    []types.Place
	full      bool

	codeExtents, dataExtents extents // of the object

	names      map[string]string
	signatures map[uint64]uint64 // by the names of units of types
	signed     []signedType      // by the numbers that signatures has
	unitNames  []string
	numbered   map[string]int32
	seen       map[*sections]bool // split sections whose units of types were read
	unknown    int                // types in units or files that are not there
}

// read reads all units of all files.
func (r *dataReader) read() {
	alternate := r.open()
	defer r.close()
	r.withData()
	s := r.sections
	r.place(s)
	if alternate != nil {
		defer alternate.Close()
		r.shared(alternate, s)
	}
	r.typeUnits(r.oldTypeUnits())
	s.units(r.unit, func(off uint64, err error) {
		r.damagedf(".debug_info", off, "the unit at offset %d of .debug_info cannot be read: %v", off, err)
	})
	r.packedTypeUnits(func(s *sections) {
		r.place(s)
		s.units(func(u *unit) { r.splitFailed(r.walk(u, s, s, 0)) }, func(uint64, error) {})
	})
}

// perByte bounds the bytes of names to read for each byte of .debug_info: those
// of C++ are long, and units share them.
const perByte = 512

// place gives a section the keys behind those before.
func (r *dataReader) place(s *sections) {
	size := s.infoSize()
	s.names = max(s.names, perByte*size)
	s.base = r.base
	r.base += uint64(size)
}

// shared reads the file that dwz moved entries to.
func (r *dataReader) shared(f *elf.File, s *sections) {
	other := r.alternate(f)
	r.place(other)
	s.altBase = other.base
	other.units(func(u *unit) {
		if err := r.walk(u, other, other, 0); err != nil {
			r.fail(f, err)
		}
	}, func(_ uint64, err error) { r.fail(f, err) })
}

// typeUnits reads the .debug_types of version 4; nil for none.
func (r *dataReader) typeUnits(old *sections) {
	if old == nil {
		return
	}
	r.place(old)
	old.units(func(u *unit) {
		if err := r.walk(u, old, old, 0); err != nil {
			r.damagedf(".debug_types", u.offset, "the unit at offset %d of .debug_types: %v", u.offset, err)
		}
	}, func(off uint64, err error) {
		r.damagedf(".debug_types", off, "the unit at offset %d of .debug_types cannot be read: %v", off, err)
	})
}

// unit reads a unit, or its split half.
func (r *dataReader) unit(u *unit) {
	s := r.sections
	if r.half(u, func(names *sections, half *unit) { r.splitUnit(u, half, names) }) {
		return
	}
	if err := r.walk(u, s, s, r.unitNumber(u, u, s)); err != nil {
		r.damagedf(".debug_info", u.offset, "the unit at offset %d of .debug_info: %v", u.offset, err)
	}
}

// splitUnit reads the half of a unit that is in another file, and before it the
// units of types there.
func (r *dataReader) splitUnit(u, half *unit, names *sections) {
	if !r.seen[names] {
		r.seen[names] = true
		r.place(names)
		old := names.splitTypeUnits()
		names.units(func(other *unit) {
			if other.signature != 0 {
				r.splitFailed(r.walk(other, names, names, 0))
			}
		}, func(uint64, error) {})
		r.typeUnits(old)
	}
	linked := names.join(half, u, r.sections)
	if half.version < 5 { // its ranges and addresses are those of the linked file
		linked = r.sections
	}
	r.splitFailed(r.walk(half, names, linked, r.unitNumber(u, half, names)))
}

func (r *dataReader) splitFailed(err error) {
	if err != nil {
		r.fail(nil, &elf.DamageError{Offset: -1, Err: err})
	}
}

// unitNumber returns the number of a unit's name.
func (r *dataReader) unitNumber(u, half *unit, names *sections) int32 {
	name, _ := r.unitName(u, half, names, "")
	n, ok := r.numbered[name]
	if !ok {
		n = int32(len(r.unitNames))
		r.unitNames = append(r.unitNames, name)
		r.numbered[name] = n
	}
	return n
}

// text returns a string attribute, one copy of each.
func (r *dataReader) textOf(s *sections, u *unit, v value) string {
	if v.form == 0 {
		return ""
	}
	if s.names <= 0 {
		r.full = true
		return ""
	}
	b := s.string(u, v)
	b = b[:min(len(b), maxPath)]
	s.names -= len(b) + 1
	if name, ok := r.names[string(b)]; ok {
		return name
	}
	return r.keep(string(b))
}

// keep returns the copy of a name that is kept; empty when there are too many.
func (r *dataReader) keep(name string) string {
	if kept, ok := r.names[name]; ok {
		return kept
	}
	if !r.room(len(name)) {
		r.full = true
		return ""
	}
	valid := valid(name)
	r.names[name] = valid
	return valid
}

// join names an entry in what is around it.
func (r *dataReader) joined(path, name string) string {
	if path == "" || name == "" {
		return name
	}
	return r.keep(path + "::" + name)
}
