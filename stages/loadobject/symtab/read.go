package symtab

import (
	"cmp"
	debugelf "debug/elf"
	"fmt"
	"path/filepath"
	"slices"

	"stackmill/stages/loadobject/elf"
)

// Read builds the table of a load object, without modules and lines, from its own symbols and those
// of its debug file, which may be nil. Damage becomes a note in the table. The table does not refer
// to the files' bytes.
func Read(f, debug *elf.File) *Draft {
	t := &Draft{Table: Table{BuildID: f.BuildID(), Checksum: f.Checksum(), Modules: []Module{{Name: Unknown, ShortPath: Unknown}}}}
	t.Arch = f.Arch()
	t.Notes = append(append(t.Notes, f.Notes...), f.TruncatedSegments()...)
	for _, l := range f.Loads {
		t.Segments = append(t.Segments, Segment{l.Offset, l.Address, l.FileSize, l.MemSize, uint32(l.Flags)})
	}
	t.TLS = TLS{f.TLS.MemSize, f.TLSAlign}
	t.Slots = slots(f)
	t.Regions = codeRegions(f, t.Slots)
	s := reader{table: t, object: f, debug: debug, golang: isGo(f), addresses: t.Addresses(), bytes: 1<<20 + 8*len(f.Bytes()), code: 16<<20 + 8*len(f.Bytes())}
	if f.Type == debugelf.ET_REL {
		s.byName = map[string]Region{}
		for _, r := range t.Regions {
			s.byName[r.Name] = r
		}
	}
	if debug != nil {
		for _, n := range debug.Notes {
			t.Notes = append(t.Notes, inDebug(n, debug))
		}
		s.bytes += 8 * len(debug.Bytes())
	}
	n := newNamer(s.golang)
	symbols := s.dropLabels(s.symbols())
	n.findTwins(symbols)
	t.Functions = makeFunctions(symbols, t.Regions, n)
	if s.code < 0 {
		t.Notes = append(t.Notes, Note{Offset: -1, Text: "too many symbols have neither a type nor a size: the rest count as functions, although some may be labels"})
	}
	nameTrampolines(t, f)
	if f.Packed { // in a compressed file, offsets do not lead to code
		t.Arch = 0
	}
	t.Notes = append(t.Notes, n.notes()...)
	return t
}

// inDebug adds the debug file's name to a note on that file. It omits the folder, because copies of
// an object in several folders share one table.
func inDebug(n Note, debug *elf.File) Note {
	return n.In("debug file "+filepath.Base(debug.Path), -1)
}

// isGo reports whether the Go linker made the object.
func isGo(f *elf.File) bool {
	return f.Section(".gopclntab") != nil || f.Section(".go.buildinfo") != nil
}

func isCode(s elf.Section) bool {
	const exec = debugelf.SHF_ALLOC | debugelf.SHF_EXECINSTR
	return s.Flags&exec == exec && s.Type != debugelf.SHT_NOBITS
}

// regions returns the executable sections, or the executable segments of an
// object without sections, sorted and without overlaps.
func regions(f *elf.File) []Region {
	var list []Region
	for _, s := range f.Sections {
		if isCode(s) {
			r := Region{s.Name, s.Offset, s.Address, s.Size}
			if f.Type == debugelf.ET_REL { // sections have no addresses yet
				r.Address = r.Offset
			}
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		for i, l := range f.Loads {
			if l.Flags&debugelf.PF_X != 0 {
				list = append(list, Region{fmt.Sprintf("segment %d", i), l.Offset, l.Address, l.FileSize})
			}
		}
	}
	slices.SortFunc(list, func(a, b Region) int { return cmp.Compare(a.Offset, b.Offset) })
	var kept []Region
	var end uint64
	for _, r := range list {
		if r.Size == 0 || r.Offset < end || r.Offset+r.Size < r.Offset || r.Address+r.Size < r.Address {
			continue
		}
		end = r.Offset + r.Size
		kept = append(kept, r)
	}
	return kept
}
