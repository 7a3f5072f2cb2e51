package image

import (
	"math"
	"slices"
	"sort"
)

// Finder finds the owners of addresses quickly: between two bounds of mappings, all addresses have
// the same owners. It is not safe for concurrent use.
type Finder struct {
	im         *Image
	bounds     []uint64 // sorted, distinct
	numbers    []int32  // by bound: the index in ownerships plus 1, 0 until it is needed
	ownerships [][]Ownership
	count      int // of all ownerships
}

// maxOwnerships bounds the ownerships in memory.
const maxOwnerships = 1 << 20

// Finder returns a finder for the image. It costs nothing until its first use.
func (im *Image) Finder() *Finder { return &Finder{im: im} }

// divide finds the bounds.
func (f *Finder) divide() {
	f.bounds = append(make([]uint64, 0, 1+2*len(f.im.Mappings)), 0)
	for _, m := range f.im.Mappings {
		f.bounds = append(f.bounds, m.Address, m.End())
	}
	slices.Sort(f.bounds)
	f.bounds = slices.Compact(f.bounds)
	f.numbers = make([]int32, len(f.bounds))
}

// At returns the ownership of an address at a time (see Image.Ownerships).
func (f *Finder) At(addr uint64, t int64) Ownership { return f.Range(addr, t).Ownership }

// AddressRange is a range of addresses with the same owners.
type AddressRange struct {
	Ownership
	First, Last uint64
}

// Range returns the range of an address, with its ownership at a time.
func (f *Finder) Range(addr uint64, t int64) AddressRange {
	if f.bounds == nil {
		f.divide()
	}
	i := sort.Search(len(f.bounds), func(i int) bool { return f.bounds[i] > addr }) - 1
	if f.numbers[i] == 0 {
		spans := slices.Clip(f.im.Ownerships(f.bounds[i]))
		if f.count += len(spans); f.count > maxOwnerships {
			clear(f.numbers)
			f.ownerships, f.count = nil, len(spans)
		}
		f.ownerships = append(f.ownerships, spans)
		f.numbers[i] = int32(len(f.ownerships))
	}
	spans := f.ownerships[f.numbers[i]-1]
	n := sort.Search(len(spans), func(n int) bool { return t < spans[n].Until })
	last := uint64(math.MaxUint64)
	if i+1 < len(f.bounds) {
		last = f.bounds[i+1] - 1
	}
	return AddressRange{spans[min(n, len(spans)-1)], f.bounds[i], last}
}
