// Package image models the address space of a process over time (rules S1, S2).
package image

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// Never is the time at which a mapping ends that is never unmapped.
const Never = decode.Never

// Mapping is a mapped segment, and how long it was mapped.
type Mapping struct {
	*decode.MapEvent       // as recorded; read-only
	Loaded, Unloaded int64 // ns; Unloaded is Never if it stays mapped
}

// End is the first address after the mapping.
func (m *Mapping) End() uint64 { return m.Address + m.Size }

// Executable reports whether the mapping may hold instructions.
func (m *Mapping) Executable() bool { return m.Modes&4 != 0 || m.Code != nil }

// Image is the address space of one process over its whole life.
type Image struct {
	Mappings []*Mapping // in order of loading

	byStart []int    // indices in Mappings, sorted by address
	maxEnd  []uint64 // see fillMaxEnd
}

// Ownership says that a mapping owns an address in the time [From, Until). Mapping is nil if
// nothing owns it.
type Ownership struct {
	From, Until int64
	Mapping     *Mapping
}

// New replays the mapping events of a process in order of time. The image keeps references to the
// events.
func New(events []decode.MapEvent, file string, log *diagnostic.Log) *Image {
	byTime := func(a, b decode.MapEvent) int { return cmp.Compare(a.Time, b.Time) }
	if !slices.IsSortedFunc(events, byTime) {
		events = slices.Clone(events)
		slices.SortStableFunc(events, byTime)
	}
	im := &Image{}
	mappings := make([]Mapping, 0, len(events)) // never moved
	live := map[uint64]*Mapping{}               // by first address
	lost := int64(0)
	for i := range events {
		e := &events[i]
		if e.Unmap {
			if m := live[e.Address]; m != nil {
				m.Unloaded = e.Time
				delete(live, e.Address)
			} else {
				lost++
			}
			continue
		}
		if e.Size == 0 || e.Address+e.Size < e.Address {
			severity := diagnostic.Error
			if e.Size == 0 { // no samples can lie in it
				severity = diagnostic.Info
			}
			log.Addf(severity, file, diagnostic.NoOffset, "bad-mapping",
				"mapping of %s at %#x with size %d covers no addresses", e.Path, e.Address, e.Size)
			continue
		}
		mappings = append(mappings, Mapping{MapEvent: e, Loaded: e.Time, Unloaded: Never})
		m := &mappings[len(mappings)-1]
		live[e.Address] = m
		im.Mappings = append(im.Mappings, m)
	}
	if lost > 0 {
		log.Add(diagnostic.Problem{Severity: diagnostic.Info, File: file, Offset: diagnostic.NoOffset, Count: lost,
			Reason: "unmap-without-map", Message: "mappings end, but their start was not recorded"})
	}
	im.index()
	return im
}

// index sorts the mappings by address, as covering needs them.
func (im *Image) index() {
	im.byStart, im.maxEnd = make([]int, len(im.Mappings)), make([]uint64, len(im.Mappings))
	for i := range im.byStart {
		im.byStart[i] = i
	}
	slices.SortStableFunc(im.byStart, func(i, j int) int { return cmp.Compare(im.Mappings[i].Address, im.Mappings[j].Address) })
	im.fillMaxEnd(0, len(im.byStart))
}

// fillMaxEnd sets maxEnd for the range [low, high) of byStart: at its middle index, to the largest
// end of the range's mappings. A binary search can then skip each half whose mappings all end below
// an address, even if a large mapping begins at a low address.
func (im *Image) fillMaxEnd(low, high int) (end uint64) {
	if low == high {
		return 0
	}
	middle := (low + high) / 2
	end = max(im.Mappings[im.byStart[middle]].End(), im.fillMaxEnd(low, middle), im.fillMaxEnd(middle+1, high))
	im.maxEnd[middle] = end
	return end
}

// Ownerships returns which mappings own an address, one after the other, from the beginning to the
// end of time without gaps (S1).
//
// The newest mapping owns the address. The exception is code that a JIT compiler announced: it
// stays the owner when a file is mapped that begins below it, or memory that contains it, since the
// collector may notice such mappings late. Time in which nothing is mapped belongs to the next
// mapping, since the collector notices libraries late, often only when they are closed. If there is
// no next mapping, it belongs to the file that was unmapped last: the collector logs the end before
// the file's destructors run.
func (im *Image) Ownerships(addr uint64) []Ownership {
	covering := im.covering(addr)
	var spans []Ownership
	from := int64(math.MinInt64)
	for i := 0; i < len(covering); i++ {
		m := covering[i]
		until := m.Unloaded
		for _, next := range covering[i+1:] {
			if next.Loaded >= until {
				break
			}
			if m.Code != nil && next.Code == nil && (next.Address < m.Address || decode.IsPerfMap(next.Path)) {
				continue
			}
			until = next.Loaded
			break
		}
		if until <= from {
			continue
		}
		spans = append(spans, Ownership{from, until, m})
		from = until
	}
	switch last := len(spans) - 1; {
	case from == Never:
	case last >= 0 && spans[last].Mapping.Code == nil:
		spans[last].Until = Never
	default:
		spans = append(spans, Ownership{from, Never, nil})
	}
	return spans
}

// covering returns all mappings that ever contained the address, in order of loading.
func (im *Image) covering(addr uint64) []*Mapping {
	found := im.appendCovering(nil, addr, 0, len(im.byStart))
	slices.Sort(found)
	ms := make([]*Mapping, len(found))
	for i, n := range found {
		ms[i] = im.Mappings[n]
	}
	return ms
}

// appendCovering appends the indices of those mappings in the range [low, high) of byStart that
// contain the address.
func (im *Image) appendCovering(found []int, addr uint64, low, high int) []int {
	middle := (low + high) / 2
	if low == high || im.maxEnd[middle] <= addr {
		return found
	}
	found = im.appendCovering(found, addr, low, middle)
	if n := im.byStart[middle]; im.Mappings[n].Address <= addr {
		if im.Mappings[n].End() > addr {
			found = append(found, n)
		}
		found = im.appendCovering(found, addr, middle+1, high)
	}
	return found
}

// Finder finds the owners of addresses quickly: it divides the addresses at the bounds of all
// mappings into ranges, and all addresses of a range have the same owners. It is not safe for
// concurrent use.
type Finder struct {
	im         *Image
	bounds     []uint64 // addresses where ownership may change, sorted and distinct
	numbers    []int32  // by bound: the index in ownerships plus 1, 0 until it is needed
	ownerships [][]Ownership
	count      int // number of ownerships in all lists
}

// maxOwnerships bounds the ownerships that a Finder caches.
const maxOwnerships = 1 << 20

// Finder returns a finder for the image. It costs nothing until its first use.
func (im *Image) Finder() *Finder { return &Finder{im: im} }

// divide divides the addresses into ranges at the bounds of all mappings.
func (f *Finder) divide() {
	f.bounds = append(make([]uint64, 0, 1+2*len(f.im.Mappings)), 0)
	for _, m := range f.im.Mappings {
		f.bounds = append(f.bounds, m.Address, m.End())
	}
	slices.Sort(f.bounds)
	f.bounds = slices.Compact(f.bounds)
	f.numbers = make([]int32, len(f.bounds))
}

// At returns the ownership of an address at time t (see Image.Ownerships).
func (f *Finder) At(addr uint64, t int64) Ownership { return f.Range(addr, t).Ownership }

// AddressRange is a range of addresses that have the same owners, with one of them.
type AddressRange struct {
	Ownership
	First, Last uint64
}

// Range returns the range that contains an address, with its owner at time t.
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
