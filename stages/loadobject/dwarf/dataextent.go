package dwarf

import (
	"cmp"
	debugelf "debug/elf"
	"slices"
	"sort"

	"stackmill/stages/loadobject/elf"
)

// extents are the addresses of an object, sorted, without those that meet.
type extents []span

func newExtents(list []span) extents {
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.low, b.low) })
	out := extents{}
	for _, x := range list {
		if n := len(out); n > 0 && x.low <= out[n-1].high {
			out[n-1].high = max(out[n-1].high, x.high)
		} else if x.low < x.high {
			out = append(out, x)
		}
	}
	return out
}

// hold reports whether addresses are of the object, all of them.
func (e extents) hold(x span) bool {
	i := sort.Search(len(e), func(i int) bool { return e[i].low > x.low })
	return i > 0 && x.low < x.high && x.high <= e[i-1].high
}

// codeOf returns the addresses of an object's code.
func codeOf(f *elf.File) extents {
	var list []span
	for _, l := range f.Loads {
		if l.Flags&debugelf.PF_X != 0 {
			list = append(list, span{l.Address, l.Address + l.MemSize})
		}
	}
	return newExtents(list)
}

// dataOf returns the addresses of an object's data but threads' own, of one
// without sections those of all that is loaded.
func dataOf(f *elf.File) extents {
	var list []span
	for i := range f.Sections {
		if x := &f.Sections[i]; x.Flags&debugelf.SHF_ALLOC != 0 && x.Flags&debugelf.SHF_TLS == 0 {
			list = append(list, span{x.Address, x.Address + x.Size})
		}
	}
	if len(f.Sections) == 0 {
		for _, l := range f.Loads {
			list = append(list, span{l.Address, l.Address + l.MemSize})
		}
	}
	return newExtents(list)
}

// executable reports whether code is in the object: linkers leave what they
// removed at address 0 or at the highest one.
func (r *dataReader) executable(x span) bool { return r.codeExtents.hold(x) }

// mapped reports whether an address is that of data in the object: of a variable
// that linkers removed it is 0 or so.
func (r *dataReader) mapped(address uint64) bool {
	return r.dataExtents.hold(span{address, address + 1})
}
