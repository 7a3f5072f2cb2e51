package dwarf

import (
	"bytes"

	"stackmill/stages/loadobject/bytereader"
)

// maxHops bounds the entries that are followed from one to the next, such as to a
// function's name.
const maxHops = 8

// entry returns the attributes of the entry at an offset of the unit, and their
// abbreviation; nil when there is none.
func (s *sections) entry(u *unit, off uint64) (bytereader.Reader, *abbrev) {
	behind := u.size - off // bytes from the entry to the unit's end
	if off > u.size || behind > uint64(len(u.entries.Rest)) {
		return bytereader.Reader{}, nil
	}
	c := u.entries
	c.Bytes(uint64(len(c.Rest)) - behind)
	return c, s.abbrevs(u.abbrevs, u.format).get(c.ULEB())
}

// mention reports whether a text stands in the names of the sections' entries.
func (s *sections) mention(text []byte) bool {
	return bytes.Contains(s.str, text) || bytes.Contains(s.info, text)
}

// nameOf returns the name of an entry of the same unit.
func (s *sections) nameOf(u *unit, ref value) (name []byte) {
	if ref.form == formRefAddr || ref.form == formGNURefAlt || ref.form == formRefSig8 {
		return nil
	}
	c, a := s.entry(u, ref.u)
	if a == nil {
		return nil
	}
	err := u.format.attributes(&c, a, func(attr uint32, v value) {
		if attr == attrName {
			name = s.string(u, v)
		}
	})
	if err != nil || c.Short {
		return nil
	}
	return name
}

// reference returns the offset in .debug_info of the entry referred to; false
// when that is in another file or another section.
func reference(u *unit, v value) (off uint64, ok bool) {
	switch v.form {
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		return u.offset + v.u, true
	case formRefAddr:
		return v.u, true
	}
	return 0, false
}
