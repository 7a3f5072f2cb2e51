package dwarf

import (
	"bytes"
	debugdwarf "debug/dwarf"

	"stackmill/internal/bytereader"
)

// MaxHops bounds chains of references, for example to the entry with a function's name.
const MaxHops = 8

// Entry returns a reader of the attributes of the entry at an offset in the unit, and the entry's
// abbreviation; nil if there is no entry.
func (s *Sections) Entry(u *Unit, off uint64) (bytereader.Reader, *Abbrev) {
	left := u.Size - off // bytes from the entry to the unit's end
	if off > u.Size || left > uint64(len(u.entries.Rest)) {
		return bytereader.Reader{}, nil
	}
	c := u.entries
	c.Bytes(uint64(len(c.Rest)) - left)
	return c, s.abbrevTable(u).get(c.ULEB())
}

// ContainsString reports whether a text occurs in the string sections.
func (s *Sections) ContainsString(text []byte) bool {
	return bytes.Contains(s.str, text) || bytes.Contains(s.info, text)
}

// NameOf returns the name of the entry in the same unit to which ref refers.
func (s *Sections) NameOf(u *Unit, ref Value) []byte {
	in, off, ok := s.Target(u, ref)
	if !ok || in != s {
		return nil
	}
	c, a := s.Entry(u, off-u.Offset)
	if a == nil {
		return nil
	}
	attrs, err := u.Format.Attributes(&c, a, nil)
	if err != nil || c.Short {
		return nil
	}
	return s.TextOf(u, attrs.Get(debugdwarf.AttrName))
}

// Reference returns the offset in .debug_info of the entry that an attribute refers
// to; false if the entry is in another file or section.
func Reference(u *Unit, v Value) (off uint64, ok bool) {
	switch v.Form {
	case formRef1, formRef2, FormRef4, formRef8, formRefUdata:
		return u.Offset + v.Uint, true
	case FormRefAddr:
		return v.Uint, true
	}
	return 0, false
}

// Target returns the entry that an attribute refers to, as its sections and the offset in their
// .debug_info. The entry may be in the supplementary file. Target returns false if that file was
// not found, or if the reference is a type signature.
func (s *Sections) Target(u *Unit, v Value) (in *Sections, off uint64, ok bool) {
	switch v.Form {
	case FormGNURefAlt, FormRefSup4, FormRefSup8:
		return s.Supplement, v.Uint, s.Supplement != nil
	}
	off, ok = Reference(u, v)
	return s, off, ok
}
