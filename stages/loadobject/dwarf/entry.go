package dwarf

import (
	"bytes"

	"stackmill/stages/loadobject/bytereader"
)

// MaxHops bounds the entries that are followed from one to the next, such as to a
// function's name.
const MaxHops = 8

// Entry returns the attributes of the entry at an offset of the unit, and their
// abbreviation; nil when there is none.
func (s *Sections) Entry(u *Unit, off uint64) (bytereader.Reader, *abbrev) {
	behind := u.Size - off // bytes from the entry to the unit's end
	if off > u.Size || behind > uint64(len(u.entries.Rest)) {
		return bytereader.Reader{}, nil
	}
	c := u.entries
	c.Bytes(uint64(len(c.Rest)) - behind)
	return c, s.abbrevs(u.abbrevs, u.Format).get(c.ULEB())
}

// Mention reports whether a text stands in the names of the sections' entries.
func (s *Sections) Mention(text []byte) bool {
	return bytes.Contains(s.str, text) || bytes.Contains(s.info, text)
}

// NameOf returns the name of an entry of the same unit.
func (s *Sections) NameOf(u *Unit, ref Value) (name []byte) {
	if ref.Form == FormRefAddr || ref.Form == FormGNURefAlt || ref.Form == FormRefSig8 {
		return nil
	}
	c, a := s.Entry(u, ref.Uint)
	if a == nil {
		return nil
	}
	err := u.Format.Attributes(&c, a, func(attr uint32, v Value) {
		if attr == AttrName {
			name = s.TextOf(u, v)
		}
	})
	if err != nil || c.Short {
		return nil
	}
	return name
}

// Reference returns the offset in .debug_info of the entry referred to; false
// when that is in another file or another section.
func Reference(u *Unit, v Value) (off uint64, ok bool) {
	switch v.Form {
	case formRef1, formRef2, FormRef4, formRef8, formRefUdata:
		return u.Offset + v.Uint, true
	case FormRefAddr:
		return v.Uint, true
	}
	return 0, false
}
