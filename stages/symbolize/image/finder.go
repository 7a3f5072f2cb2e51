package image

import (
	"math"
	"slices"
	"sort"
)

// Finder finds who owned an address when, quickly: between two bounds of
// mappings all addresses have the same owners. It is not safe for concurrent use.
type Finder struct {
	im         *Image
	bounds     []uint64 // sorted, distinct
	numbers    []int32  // by piece, which begins at a bound: its number in spans, from 1; 0 until it is asked for
	ownerships [][]Ownership
	count      int // spans of all pieces
}

// maxOwnerships bounds the spans that are kept.
const maxOwnerships = 1 << 20

// Finder returns a finder for the image. It costs nothing until it is asked.
func (im *Image) Finder() *Finder { return &Finder{im: im} }

// divide finds the pieces.
func (f *Finder) divide() {
	f.bounds = append(make([]uint64, 0, 1+2*len(f.im.Mappings)), 0)
	for _, m := range f.im.Mappings {
		f.bounds = append(f.bounds, m.Address, m.End())
	}
	slices.Sort(f.bounds)
	f.bounds = slices.Compact(f.bounds)
	f.numbers = make([]int32, len(f.bounds))
}

// At returns the span of an address at a time, as in Image.Spans.
func (f *Finder) At(addr uint64, t int64) Ownership { return f.Range(addr, t).Ownership }

// AddressRange is a range of addresses that have the same owners.
type AddressRange struct {
	Ownership
	First, Last uint64
}

// Range returns the piece that an address is in, with its span at a time.
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
