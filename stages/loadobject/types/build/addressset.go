package build

import (
	"cmp"
	debugelf "debug/elf"
	"slices"
	"sort"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/elf"
)

// addressSet is a set of addresses, as sorted ranges with gaps between them.
type addressSet []dwarf.Range

func newAddressSet(list []dwarf.Range) addressSet {
	slices.SortFunc(list, func(a, b dwarf.Range) int { return cmp.Compare(a.Low, b.Low) })
	out := addressSet{}
	for _, x := range list {
		if n := len(out); n > 0 && x.Low <= out[n-1].High {
			out[n-1].High = max(out[n-1].High, x.High)
		} else if x.Low < x.High {
			out = append(out, x)
		}
	}
	return out
}

// contains reports whether all addresses of a range are in the set.
func (e addressSet) contains(x dwarf.Range) bool {
	i := sort.Search(len(e), func(i int) bool { return e[i].Low > x.Low })
	return i > 0 && x.Low < x.High && x.High <= e[i-1].High
}

// codeOf returns the addresses of an object's code.
func codeOf(f *elf.File) addressSet {
	var list []dwarf.Range
	for _, l := range f.Loads {
		if l.Flags&debugelf.PF_X != 0 {
			list = append(list, dwarf.Range{Low: l.Address, High: l.Address + l.MemSize})
		}
	}
	return newAddressSet(list)
}

// dataOf returns the addresses of an object's data, without thread-local data. If the object has no
// sections, it returns the addresses of all segments.
func dataOf(f *elf.File) addressSet {
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
	return newAddressSet(list)
}

// isCode reports whether a range is in the object's code. Code that the linker removed is not: it
// has address 0 or the highest one.
func (r *reader) isCode(x dwarf.Range) bool { return r.objectCode.contains(x) }

// isData reports whether an address is in the object's data. Variables that the linker removed are
// not: their addresses are at or near 0.
func (r *reader) isData(address uint64) bool {
	return r.objectData.contains(dwarf.Range{Low: address, High: address + 1})
}
