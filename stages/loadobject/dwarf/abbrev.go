package dwarf

import (
	"fmt"
	"math"
	"slices"

	"stackmill/internal/bytereader"
)

// Abbrev is an abbreviation declaration (DWARF 5 section 7.5.3).
type Abbrev struct {
	Tag      uint64
	Children bool
	sibling  bool
	Origin   bool // completes another entry
	Code     bool // may have code
	attrs    []attrDecl
	// To skip the attributes quickly: the values whose length must be read, each
	// with the number of bytes before it, and the number of bytes after the last.
	varying []varying
	tail    uint32
}

// attrDecl is an attribute's declaration.
type attrDecl struct {
	name, form uint32
	implicit   int64
	fixed      bool  // the value has a length that does not depend on it:
	size       uint8 // bytes
}

type varying struct{ before, form uint32 }

// abbrevs is an abbreviation table as units of one format use it.
type abbrevs struct {
	offset  uint64 // in .debug_abbrev
	format  Format
	list    []Abbrev
	dense   bool              // code n is list[n-1]
	index   map[uint64]uint32 // by code, unless dense
	inlined bool              // an entry may be an inlined subroutine

	attrs   []attrDecl // of all
	varying []varying
}

// maxAttrs bounds the attributes of an entry; compilers give some 15.
const maxAttrs = 256

// get returns the declaration of a code, nil if there is none.
func (t *abbrevs) get(code uint64) *Abbrev {
	if t.dense {
		if code-1 < uint64(len(t.list)) {
			return &t.list[code-1]
		}
		return nil
	}
	if i, ok := t.index[code]; ok {
		return &t.list[i]
	}
	return nil
}

func (t *abbrevs) put(code uint64, a Abbrev) {
	if t.dense && code != uint64(len(t.list))+1 {
		t.dense = false
		t.index = map[uint64]uint32{}
		for i := range t.list {
			t.index[uint64(i)+1] = uint32(i)
		}
	}
	if !t.dense {
		if _, ok := t.index[code]; ok {
			return // the first one counts
		}
		t.index[code] = uint32(len(t.list))
	}
	t.list = append(t.list, a)
	t.inlined = t.inlined || a.Tag == TagInlinedSubroutine
}

// refersToSupplement reports whether entries may have something in the supplementary file.
func (t *abbrevs) refersToSupplement() bool {
	return slices.ContainsFunc(t.attrs, func(a attrDecl) bool {
		switch uint64(a.form) {
		case FormGNURefAlt, formGNUStrpAlt, FormRefSup4, FormRefSup8, formStrpSup:
			return true
		}
		return false
	})
}

// Declares reports whether entries of a unit may have one of some tags.
func (s *Sections) Declares(u *Unit, tags ...uint64) bool {
	return slices.ContainsFunc(s.abbrevs(u.abbrevs, u.Format).list, func(a Abbrev) bool { return slices.Contains(tags, a.Tag) })
}

// abbrevs reads the table at an offset of .debug_abbrev. It is valid until the next
// one is read: most compilers give each unit its own. The total of what is read is
// bounded, since tables may overlap. A damaged table ends before the damage.
func (s *Sections) abbrevs(off uint64, f Format) *abbrevs {
	t := s.table
	switch {
	case t == nil:
		t = &abbrevs{}
		s.table = t
	case t.offset == off && t.format == f:
		return t
	}
	*t = abbrevs{offset: off, format: f, dense: true, list: t.list[:0], attrs: t.attrs[:0], varying: t.varying[:0]}
	c := bytereader.At(s.abbrev, off, s.Order)
	for s.scan > 0 {
		before := len(c.Rest)
		code := c.ULEB()
		if code == 0 || c.Short {
			break
		}
		a, ok := t.read(&c, f)
		s.scan -= before - len(c.Rest)
		if !ok {
			break
		}
		t.put(code, a)
	}
	return t
}

// read reads what follows a declaration's code; false if it is damaged.
func (t *abbrevs) read(c *bytereader.Reader, f Format) (a Abbrev, ok bool) {
	a = Abbrev{Tag: c.ULEB(), Children: c.U8() != 0}
	attrs, vary := len(t.attrs), len(t.varying)
	for {
		name, form := c.ULEB(), c.ULEB()
		d := attrDecl{name: uint32(name), form: uint32(form)}
		if form == FormImplicit {
			d.implicit = c.SLEB()
		}
		if name == 0 && form == 0 {
			break
		}
		if name > math.MaxUint32 || form > math.MaxUint32 || len(t.attrs)-attrs == maxAttrs {
			return Abbrev{}, false
		}
		n, fixed := f.size(form)
		d.fixed, d.size = fixed, uint8(n)
		t.attrs = append(t.attrs, d)
		a.sibling = a.sibling || name == AttrSibling
		a.Origin = a.Origin || name == AttrOrigin
		a.Code = a.Code || name == AttrLowPC || name == AttrRanges
		if fixed {
			a.tail += uint32(n)
		} else {
			t.varying = append(t.varying, varying{a.tail, d.form})
			a.tail = 0
		}
	}
	a.attrs, a.varying = t.attrs[attrs:], t.varying[vary:]
	return a, !c.Short
}

// skip passes over an entry's attributes.
func (f Format) skip(c *bytereader.Reader, a *Abbrev) error {
	for _, x := range a.varying {
		c.Bytes(uint64(x.before))
		if _, ok := f.Value(c, uint64(x.form)); !ok {
			return unknownForm(x.form)
		}
	}
	c.Bytes(uint64(a.tail))
	return nil
}

// Attributes reads an entry's attributes and passes each to set.
func (f Format) Attributes(c *bytereader.Reader, a *Abbrev, set func(name uint32, v Value)) error {
	for i := range a.attrs {
		d := &a.attrs[i]
		v := Value{Form: uint64(d.form), Uint: uint64(d.implicit)}
		switch {
		case v.Form == FormImplicit:
		case d.fixed:
			v.readFixed(c, uint64(d.size))
		default:
			var ok bool
			if v, ok = f.Value(c, v.Form); !ok {
				return unknownForm(d.form)
			}
		}
		set(d.name, v)
	}
	return nil
}

func unknownForm(form uint32) error { return fmt.Errorf("unknown form %#x", form) }
