package dwarf

import (
	debugdwarf "debug/dwarf"
	"fmt"
	"math"
	"slices"

	"stackmill/internal/bytereader"
)

// Abbrev is an abbreviation declaration (DWARF 5 section 7.5.3).
type Abbrev struct {
	Tag         debugdwarf.Tag
	Children    bool
	HasOrigin   bool // DW_AT_abstract_origin
	MayHaveCode bool // DW_AT_low_pc or DW_AT_ranges
	sibling     bool // DW_AT_sibling
	attrs       []attrDecl
	// For skipping attributes quickly: the attributes of variable length, and the number of bytes
	// after the last of them.
	variable []variableAttr
	tail     uint32
}

// attrDecl is the declaration of an attribute.
type attrDecl struct {
	name     debugdwarf.Attr
	form     uint32
	implicit int64
	fixed    bool  // all values of the form have the same size
	size     uint8 // bytes
}

// variableAttr is an attribute of variable length. before is the number of bytes between the
// previous such attribute and this one.
type variableAttr struct{ before, form uint32 }

// abbrevTable is an abbreviation table, for units of one format.
type abbrevTable struct {
	offset  uint64 // where the table is in .debug_abbrev
	format  Format
	list    []Abbrev
	dense   bool              // code n is list[n-1]
	index   map[uint64]uint32 // code -> index in list; unused if dense
	inlined bool              // some declaration is of an inlined subroutine

	attrs    []attrDecl // the attributes of all declarations
	variable []variableAttr
}

// maxAttrs bounds the attributes of an entry; compilers write some 15.
const maxAttrs = 256

// get returns the declaration with a code, nil if there is none.
func (t *abbrevTable) get(code uint64) *Abbrev {
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

func (t *abbrevTable) put(code uint64, a Abbrev) {
	if t.dense && code != uint64(len(t.list))+1 {
		t.dense = false
		t.index = map[uint64]uint32{}
		for i := range t.list {
			t.index[uint64(i)+1] = uint32(i)
		}
	}
	if !t.dense {
		if _, ok := t.index[code]; ok {
			return // of declarations with equal codes, keep the first
		}
		t.index[code] = uint32(len(t.list))
	}
	t.list = append(t.list, a)
	t.inlined = t.inlined || a.Tag == debugdwarf.TagInlinedSubroutine
}

// refersToSupplement reports whether entries may refer to the supplementary file.
func (t *abbrevTable) refersToSupplement() bool {
	return slices.ContainsFunc(t.attrs, func(a attrDecl) bool {
		switch uint64(a.form) {
		case FormGNURefAlt, formGNUStrpAlt, FormRefSup4, FormRefSup8, formStrpSup:
			return true
		}
		return false
	})
}

// Declares reports whether a unit's abbreviations have one of the tags. If not, no entry has it.
func (s *Sections) Declares(u *Unit, tags ...debugdwarf.Tag) bool {
	return slices.ContainsFunc(s.abbrevTable(u).list, func(a Abbrev) bool { return slices.Contains(tags, a.Tag) })
}

// abbrevTable returns a unit's abbreviation table, valid until the next call. It reads the table
// unless it is the last one read. The budget bounds the total number of bytes read, because tables
// may overlap. If a table is damaged, only the part before the damage is used.
func (s *Sections) abbrevTable(u *Unit) *abbrevTable {
	t := s.table
	switch {
	case t == nil:
		t = &abbrevTable{}
		s.table = t
	case t.offset == u.abbrevOffset && t.format == u.Format:
		return t
	}
	*t = abbrevTable{offset: u.abbrevOffset, format: u.Format, dense: true, list: t.list[:0], attrs: t.attrs[:0], variable: t.variable[:0]}
	c := bytereader.At(s.abbrev, u.abbrevOffset, s.Order)
	for s.abbrevBytes > 0 {
		before := len(c.Rest)
		code := c.ULEB()
		if code == 0 || c.Short {
			break
		}
		a, ok := t.read(&c)
		s.abbrevBytes -= before - len(c.Rest)
		if !ok {
			break
		}
		t.put(code, a)
	}
	return t
}

// read reads a declaration, except its code; false if it is damaged.
func (t *abbrevTable) read(c *bytereader.Reader) (a Abbrev, ok bool) {
	a = Abbrev{Tag: debugdwarf.Tag(min(c.ULEB(), math.MaxUint32)), Children: c.U8() != 0}
	attrs, variable := len(t.attrs), len(t.variable)
	for {
		name, form := c.ULEB(), c.ULEB()
		d := attrDecl{name: debugdwarf.Attr(name), form: uint32(form)}
		if form == FormImplicitConst {
			d.implicit = c.SLEB()
		}
		if name == 0 && form == 0 {
			break
		}
		if name > math.MaxUint32 || form > math.MaxUint32 || len(t.attrs)-attrs == maxAttrs {
			return Abbrev{}, false
		}
		n, fixed := t.format.size(form)
		d.fixed, d.size = fixed, uint8(n)
		t.attrs = append(t.attrs, d)
		a.sibling = a.sibling || d.name == debugdwarf.AttrSibling
		a.HasOrigin = a.HasOrigin || d.name == debugdwarf.AttrAbstractOrigin
		a.MayHaveCode = a.MayHaveCode || d.name == debugdwarf.AttrLowpc || d.name == debugdwarf.AttrRanges
		if fixed {
			a.tail += uint32(n)
		} else {
			t.variable = append(t.variable, variableAttr{a.tail, d.form})
			a.tail = 0
		}
	}
	a.attrs, a.variable = t.attrs[attrs:], t.variable[variable:]
	return a, !c.Short
}

// skip skips an entry's attributes.
func (f Format) skip(c *bytereader.Reader, a *Abbrev) error {
	for _, x := range a.variable {
		c.Bytes(uint64(x.before))
		if _, ok := f.Value(c, uint64(x.form)); !ok {
			return unknownForm(x.form)
		}
	}
	c.Bytes(uint64(a.tail))
	return nil
}

// Attrs are the attributes of an entry.
type Attrs []attribute

type attribute struct {
	Name debugdwarf.Attr
	Value
}

// Get returns the last attribute with one of the names; a Value with form 0 if there is none.
func (a Attrs) Get(names ...debugdwarf.Attr) Value {
	for i := range a {
		if x := &a[len(a)-1-i]; slices.Contains(names, x.Name) {
			return x.Value
		}
	}
	return Value{}
}

// Attributes reads an entry's attributes. It reuses list's memory.
func (f Format) Attributes(c *bytereader.Reader, a *Abbrev, list Attrs) (Attrs, error) {
	list = slices.Grow(list[:0], len(a.attrs))
	for i := range a.attrs {
		d := &a.attrs[i]
		v := Value{Form: uint64(d.form), Uint: uint64(d.implicit)}
		switch {
		case v.Form == FormImplicitConst:
		case d.fixed:
			v.readFixed(c, uint64(d.size))
		default:
			var ok bool
			if v, ok = f.Value(c, v.Form); !ok {
				return list, unknownForm(d.form)
			}
		}
		list = append(list, attribute{d.name, v})
	}
	return list, nil
}

func unknownForm(form uint32) error { return fmt.Errorf("unknown form %#x", form) }
