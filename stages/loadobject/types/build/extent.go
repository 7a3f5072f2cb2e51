package build

import (
	"cmp"
	debugelf "debug/elf"
	"slices"
	"sort"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/elf"
)

// extents are addresses of an object, sorted; adjacent ones are joined.
type extents []dwarf.Range

func newExtents(list []dwarf.Range) extents {
	slices.SortFunc(list, func(a, b dwarf.Range) int { return cmp.Compare(a.Low, b.Low) })
	out := extents{}
	for _, x := range list {
		if n := len(out); n > 0 && x.Low <= out[n-1].High {
			out[n-1].High = max(out[n-1].High, x.High)
		} else if x.Low < x.High {
			out = append(out, x)
		}
	}
	return out
}

// hold reports whether all addresses of a span are among the extents.
func (e extents) hold(x dwarf.Range) bool {
	i := sort.Search(len(e), func(i int) bool { return e[i].Low > x.Low })
	return i > 0 && x.Low < x.High && x.High <= e[i-1].High
}

// codeOf returns the addresses of an object's code.
func codeOf(f *elf.File) extents {
	var list []dwarf.Range
	for _, l := range f.Loads {
		if l.Flags&debugelf.PF_X != 0 {
			list = append(list, dwarf.Range{Low: l.Address, High: l.Address + l.MemSize})
		}
	}
	return newExtents(list)
}

// dataOf returns the addresses of an object's data, except thread-local ones; for an
// object without sections, of all that is loaded.
func dataOf(f *elf.File) extents {
	var list []dwarf.Range
	for i := range f.Sections {
		if x := &f.Sections[i]; x.Flags&debugelf.SHF_ALLOC != 0 && x.Flags&debugelf.SHF_TLS == 0 {
			list = append(list, dwarf.Range{Low: x.Address, High: x.Address + x.Size})
		}
	}
	if len(f.Sections) == 0 {
		for _, l := range f.Loads {
			list = append(list, dwarf.Range{Low: l.Address, High: l.Address + l.MemSize})
		}
	}
	return newExtents(list)
}

// executable reports whether code is in the object: code that the linker removed is at
// address 0 or at the highest one.
func (r *reader) executable(x dwarf.Range) bool { return r.codeExtents.hold(x) }

// mapped reports whether an address is that of data in the object: variables that the
// linker removed are at or near address 0.
func (r *reader) mapped(address uint64) bool {
	return r.dataExtents.hold(dwarf.Range{Low: address, High: address + 1})
}
