package cfi

import "encoding/binary"

// The largest numbers of things of one load object that are kept, some ten
// times those of the largest programs.
const (
	maxDistinct = 1 << 20
	maxPrograms = 1 << 20
	maxSection  = 1 << 32
	maxSegments = 64 // every address is looked for in them
)

// cie is what the entries of several functions have in common.
type cie struct {
	codeAlign, dataAlign int64
	returnColumn         uint8
	encoding             uint8 // of addresses
	augmented            bool  // entries have a length of augmentation data
	signal               bool
	initial              state
	usable               bool
}

// entry is one function's entry: where it stands in its section, and its CIE's
// offset there.
type entry struct {
	body reader
	cie  uint64
}

// section is `.eh_frame` or `.debug_frame` while it is read.
type section struct {
	b       *builder
	debug   bool
	address uint64
	cies    map[uint64]*cie
	entries []entry
}

// read reads a section's entries. The CIEs come first, as `.debug_frame` may
// have them after their users.
func (b *builder) read(in *Input, s Section, debug bool) []span {
	if len(s.Bytes) == 0 || uint64(len(s.Bytes)) > maxSection {
		return nil
	}
	list := section{b: b, debug: debug, address: s.Address, cies: map[uint64]*cie{}}
	r := newReader(s.Bytes, s.Address, in.Order)
	r.text, r.data = in.Text, in.Data
	for len(r.Rest) >= 4 {
		if s.Open && in.Order.Uint32(r.Rest) == 0 {
			break
		}
		if !list.next(&r) {
			b.table.Bad++
			break
		}
	}
	var spans []span
	for i := range list.entries {
		if s, ok := list.function(&list.entries[i]); ok {
			spans = append(spans, s)
		}
	}
	return spans
}

// next reads the head of the next entry, false if the rest of the section is
// lost.
func (s *section) next(r *reader) bool {
	start := r.address() - s.address
	length, wide := r.Length()
	if length == 0 { // ends the entries of one input file
		return true
	}
	idAt := r.address() - s.address
	body := r.part(length)
	if r.Short {
		return false
	}
	id := body.Offset(wide && s.debug)
	switch {
	case body.Short:
		s.b.table.Bad++
	case !s.debug && id == 0, s.debug && !wide && id == 0xffffffff, s.debug && wide && id == ^uint64(0):
		s.cies[start] = s.common(&body)
	case s.debug:
		s.entries = append(s.entries, entry{body, id})
	default:
		s.entries = append(s.entries, entry{body, idAt - id})
	}
	return true
}

// common reads a CIE.
func (s *section) common(r *reader) *cie {
	c := &cie{}
	version := r.U8()
	augmentation := string(r.Text())
	if version == 4 {
		if size, segment := r.U8(), r.U8(); size != 8 || segment != 0 {
			return c
		}
	}
	if version != 1 && version != 3 && version != 4 {
		return c
	}
	c.codeAlign, c.dataAlign = int64(r.ULEB()), r.SLEB()
	column := uint64(0)
	if version == 1 {
		column = uint64(r.U8())
	} else {
		column = r.ULEB()
	}
	if column >= NumRegisters {
		return c
	}
	c.returnColumn = uint8(column)
	if augmentation != "" && !s.augmentation(r, c, augmentation) {
		return c
	}
	c.initial.signal = c.signal
	c.usable = !r.Short
	m := machine{b: s.b, c: c, r: *r, now: c.initial}
	c.usable = c.usable && m.run(nil)
	c.initial = m.now
	return c
}

// augmentation reads what a CIE's augmentation string announces, false if it
// cannot be understood.
func (s *section) augmentation(r *reader, c *cie, letters string) bool {
	if letters[0] != 'z' {
		return false
	}
	c.augmented = true
	a := r.part(r.ULEB())
	for _, l := range letters[1:] {
		switch l {
		case 'R':
			c.encoding = a.U8()
		case 'P':
			a.format(a.U8())
		case 'L':
			a.U8()
		case 'S':
			c.signal = true
		case 'B', 'G': // the other key; memory tagging
		default:
			return false
		}
	}
	return !a.Short
}

// function reads a function's entry and runs its program.
func (s *section) function(e *entry) (span, bool) {
	c := s.cies[e.cie]
	if c == nil || !c.usable {
		s.b.table.Bad++
		return span{}, false
	}
	r := &e.body
	start, ok := r.pointer(c.encoding)
	size, _ := r.format(c.encoding)
	if c.augmented {
		r.Block()
	}
	if !ok || r.Short {
		s.b.table.Bad++
		return span{}, false
	}
	offset, room := s.b.offset(start)
	if room == 0 || size == 0 { // of code that the linker dropped
		return span{}, false
	}
	m := machine{b: s.b, c: c, r: *r, now: c.initial, address: start, end: start + min(size, room)}
	sp := span{start: uint32(offset), end: uint32(offset + min(size, room)), first: len(s.b.steps)}
	if !m.run(&sp) {
		s.b.table.Bad++
	}
	return sp, true
}

// FrameSection returns the address of `.eh_frame` from `.eh_frame_hdr`, of which
// head is the content.
func FrameSection(head []byte, address uint64, order binary.ByteOrder) (uint64, bool) {
	r := newReader(head, address, order)
	r.data = address
	version, encoding := r.U8(), r.U8()
	r.Bytes(2) // how the table is encoded
	at, ok := r.pointer(encoding)
	return at, ok && version == 1
}
