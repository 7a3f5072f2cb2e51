package dwarf

import (
	"bytes"

	"stackmill/stages/loadobject/bytereader"
)

// bodyNames are what clang calls the body of a parallel region, which it then
// inlines into the function that the run-time library calls. It is that
// function's own code (S11): nobody wrote a call.
var bodyNames = [][]byte{[]byte("omp_outlined._debug__"), []byte("omp_outlined_debug__")}

// isBody reports whether the entry that an inlined subroutine refers to is the
// body of a parallel region.
func isBody(s *sections, u *unit, origin value) bool {
	k := knownOf(s)
	if k.bodies == nil {
		some := isBodyName(s.str) || isBodyName(s.info)
		k.bodies = &some
	}
	return *k.bodies && isBodyName(s.nameOf(u, origin))
}

func isBodyName(text []byte) bool {
	for _, name := range bodyNames {
		if bytes.Contains(text, name) {
			return true
		}
	}
	return false
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
