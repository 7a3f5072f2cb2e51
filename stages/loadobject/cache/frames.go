package cache

import (
	debugelf "debug/elf"

	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/linkage"
	"stackmill/stages/loadobject/symtab"
)

// Frames returns the call frame information of a load object and of its debug file; nil without an
// error if there is none, or if it is not 64-bit code of a known processor. The table is shared.
func (r *Recording) Frames(path string) (*cfi.Table, error) {
	l := r.loader
	t, err := loadTable(r, path, ".frames", func(s *source) (*cfi.Table, []string, error) {
		t := l.disk.readFrames(s.key)
		if t != nil {
			return t, nil, nil
		}
		err := elf.Guard(path, func() { t = readFrames(s.object, s.debug) })
		if err == nil {
			l.disk.writeFrames(s.key, t)
		}
		return t, nil, err
	})
	if t == nil || t.Rows() == 0 && t.Bad == 0 {
		return nil, err
	}
	return t, err
}

// readFrames builds the table of an object. It is empty unless the object is linked and has 64-bit
// code of a known processor.
func readFrames(f, debug *elf.File) *cfi.Table {
	in := cfi.Input{Order: f.Order, Entry: f.Entry}
	if in.Arch = f.Arch(); in.Arch == 0 || f.Class != debugelf.ELFCLASS64 || f.Type == debugelf.ET_REL {
		return &cfi.Table{}
	}
	for _, l := range f.Loads {
		if l.Flags&debugelf.PF_X != 0 {
			in.Segments = append(in.Segments, cfi.Segment{Offset: l.Offset, Address: l.Address, Size: l.FileSize})
		}
	}
	if s := f.Section(".text"); s != nil {
		in.Text = s.Address
	}
	if s := f.Section(".got"); s != nil {
		in.Data = s.Address
	}
	for _, g := range symtab.LinkageTables(f) {
		depths := linkage.Depths(in.Arch, f.Slice(g.Offset, g.Size), g.Address)
		in.Linkage = append(in.Linkage, cfi.Linkage{End: g.Address + g.Size, Depths: depths})
	}
	unreadable := 0 // number of unreadable sections
	var err error
	if in.EHFrame, err = ehFrame(f); err != nil {
		unreadable++
	}
	for _, file := range []*elf.File{f, debug} {
		if file == nil || len(in.Debug.Bytes) > 0 {
			continue
		}
		if in.Debug.Bytes, err = file.Debug("frame"); err != nil {
			unreadable++
		}
	}
	t := cfi.Read(in)
	t.Bad += unreadable
	return t
}

// ehFrame returns the section `.eh_frame`. Without section headers, it finds the start in
// `.eh_frame_hdr`; the end is then unknown, at most that of the segment.
func ehFrame(f *elf.File) (cfi.Section, error) {
	if s := f.Section(".eh_frame"); s != nil {
		b, err := f.Data(s)
		return cfi.Section{Bytes: b, Address: s.Address}, err
	}
	head := f.Slice(f.EHFrameHeader.Offset, f.EHFrameHeader.FileSize)
	at, ok := cfi.FrameSection(head, f.EHFrameHeader.Address, f.Order)
	for _, l := range f.Loads {
		if ok && at-l.Address < l.FileSize {
			return cfi.Section{Bytes: f.Slice(l.Offset+at-l.Address, l.FileSize-(at-l.Address)), Address: at, Open: true}, nil
		}
	}
	return cfi.Section{}, nil
}
