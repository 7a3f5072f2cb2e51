package cfi

import "encoding/binary"

// Bounds for one load object: some ten times what the largest programs have.
const (
	maxDistinct = 1 << 20
	maxPrograms = 1 << 20
	maxSection  = 1 << 32
	maxSegments = 64 // each lookup of an address searches all
)

// cie is a Common Information Entry, which FDEs share.
type cie struct {
	codeAlign, dataAlign int64 // code_alignment_factor, data_alignment_factor
	returnColumn         uint8 // return_address_register
	encoding             uint8 // encoding of addresses
	augmented            bool  // FDEs have augmentation data, preceded by its length
	signal               bool
	initial              state
	usable               bool
}

// fde is a Frame Description Entry: its bytes, and its CIE's offset in the section.
type fde struct {
	body reader
	cie  uint64
}

// section is the state of reading `.eh_frame` or `.debug_frame`.
type section struct {
	b       *builder
	debug   bool
	address uint64
	cies    map[uint64]*cie
	fdes    []fde
}

// read reads a section and returns the code that its FDEs describe. It reads all CIEs before the
// FDEs, because in `.debug_frame` a CIE may follow its FDEs.
func (b *builder) read(in *Input, s Section, debug bool) []codeRange {
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
	var ranges []codeRange
	for i := range list.fdes {
		if s, ok := list.readFDE(&list.fdes[i]); ok {
			ranges = append(ranges, s)
		}
	}
	return ranges
}

// next reads a CIE, or the header of an FDE; false if the rest of the section is
// unreadable.
func (s *section) next(r *reader) bool {
	start := r.address() - s.address
	length, wide := r.Length()
	if length == 0 { // end of one input file's entries
		return true
	}
	idAt := r.address() - s.address
	body := r.sub(length)
	if r.Short {
		return false
	}
	id := body.Offset(wide && s.debug)
	switch {
	case body.Short:
		s.b.table.Bad++
	case !s.debug && id == 0, s.debug && !wide && id == 0xffffffff, s.debug && wide && id == ^uint64(0):
		s.cies[start] = s.readCIE(&body)
	case s.debug:
		s.fdes = append(s.fdes, fde{body, id})
	default:
		s.fdes = append(s.fdes, fde{body, idAt - id})
	}
	return true
}

// readCIE reads a CIE and runs its initial instructions.
func (s *section) readCIE(r *reader) *cie {
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

// augmentation reads the augmentation data that letters describe; false for an unknown letter.
func (s *section) augmentation(r *reader, c *cie, letters string) bool {
	if letters[0] != 'z' {
		return false
	}
	c.augmented = true
	a := r.sub(r.ULEB())
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

// readFDE reads an FDE and runs its instructions.
func (s *section) readFDE(e *fde) (codeRange, bool) {
	c := s.cies[e.cie]
	if c == nil || !c.usable {
		s.b.table.Bad++
		return codeRange{}, false
	}
	r := &e.body
	start, ok := r.pointer(c.encoding)
	size, _ := r.format(c.encoding)
	if c.augmented {
		r.Block()
	}
	if !ok || r.Short {
		s.b.table.Bad++
		return codeRange{}, false
	}
	offset, room := s.b.offset(start)
	if room == 0 || size == 0 { // code that the linker removed
		return codeRange{}, false
	}
	m := machine{b: s.b, c: c, r: *r, now: c.initial, address: start, end: start + min(size, room)}
	code := codeRange{start: uint32(offset), end: uint32(offset + min(size, room)), first: len(s.b.starts)}
	if !m.run(&code) {
		s.b.table.Bad++
	}
	return code, true
}

// FrameSection returns the address of `.eh_frame`, given `.eh_frame_hdr` and its address.
func FrameSection(head []byte, address uint64, order binary.ByteOrder) (uint64, bool) {
	r := newReader(head, address, order)
	r.data = address
	version, encoding := r.U8(), r.U8()
	r.Bytes(2) // encodings of the table
	at, ok := r.pointer(encoding)
	return at, ok && version == 1
}
