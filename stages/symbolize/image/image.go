// Package image is the address space of a process over time (rules S1, S2).
package image

import (
	"math"
	"sort"

	"stackmill/problem"
	"stackmill/stages/decode"
)

// Never is when a mapping ends that is never unmapped.
const Never = decode.Never

// Mapping is a mapped segment with its life.
type Mapping struct {
	decode.MapEvent
	Loaded, Unloaded int64 // ns; Unloaded is Never while it is mapped
}

// End is the first address behind the mapping.
func (m *Mapping) End() uint64 { return m.Address + m.Size }

// Executable reports whether the mapping may hold instructions.
func (m *Mapping) Executable() bool { return m.Modes&4 != 0 || m.Code != nil }

// Image is the address space of one process over its whole life.
type Image struct {
	Mappings []*Mapping // in order of loading
	// Code is apart because there may be much of it inside a single mapping,
	// which would have to be passed on the way back to that one.
	files, code index
}

// index finds mappings by address.
type index struct {
	im      *Image
	byStart []int    // numbers of Mappings, sorted by address
	maxEnd  []uint64 // greatest End of byStart[:i+1]
}

// Span says that Mapping owned an address from From up to Until. A nil
// Mapping: nothing did.
type Span struct {
	From, Until int64
	Mapping     *Mapping
}

// New replays the events of a process. Events are ordered by time; those of
// equal time keep their order.
func New(events []decode.MapEvent, file string, log *problem.Log) *Image {
	ordered := make([]decode.MapEvent, len(events))
	copy(ordered, events)
	sort.SliceStable(ordered, func(i, j int) bool { return ordered[i].Time < ordered[j].Time })

	im := &Image{}
	live := map[uint64]*Mapping{} // by first address
	lost := int64(0)
	for _, e := range ordered {
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
			log.Addf(problem.Error, file, problem.NoOffset, "bad-mapping",
				"mapping of %s at %#x with size %d covers no addresses", e.Path, e.Address, e.Size)
			continue
		}
		m := &Mapping{MapEvent: e, Loaded: e.Time, Unloaded: Never}
		live[e.Address] = m
		im.Mappings = append(im.Mappings, m)
	}
	if lost > 0 {
		log.Add(problem.Problem{Severity: problem.Info, File: file, Offset: problem.NoOffset, Count: lost,
			Reason: "unmap-without-map", Message: "mappings end that were never announced"})
	}
	im.index()
	return im
}

func (im *Image) index() {
	im.files.im, im.code.im = im, im
	for i, m := range im.Mappings {
		x := &im.files
		if m.Code != nil {
			x = &im.code
		}
		x.byStart = append(x.byStart, i)
	}
	im.files.sort()
	im.code.sort()
}

func (x *index) sort() {
	start := func(i int) uint64 { return x.im.Mappings[x.byStart[i]].Address }
	sort.SliceStable(x.byStart, func(i, j int) bool { return start(i) < start(j) })
	x.maxEnd = make([]uint64, len(x.byStart))
	end := uint64(0)
	for i, n := range x.byStart {
		end = max(end, x.im.Mappings[n].End())
		x.maxEnd[i] = end
	}
}

// Spans tells who owned an address when. The spans follow each other without
// gaps from the beginning to the end of time (S1).
//
// The newest mapping owns the address, except that code which a run-time
// compiler announced is not hidden by a file mapping that begins below it, or by
// the memory it lives in: the collector may notice such mappings only later. Time in
// which nothing owned the address goes to the mapping that came next: the
// collector notices libraries late, often only when they are closed. When none
// came next it goes to the file that was unmapped last, whose end the collector
// logs before its destructors run.
func (im *Image) Spans(addr uint64) []Span {
	covering := im.covering(addr)
	var spans []Span
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
		spans = append(spans, Span{from, until, m})
		from = until
	}
	switch last := len(spans) - 1; {
	case from == Never:
	case last >= 0 && spans[last].Mapping.Code == nil:
		spans[last].Until = Never
	default:
		spans = append(spans, Span{from, Never, nil})
	}
	return spans
}

// covering returns the mappings that contain the address, in order of loading.
func (im *Image) covering(addr uint64) []*Mapping {
	found := im.code.covering(addr, im.files.covering(addr, nil))
	sort.Ints(found)
	ms := make([]*Mapping, len(found))
	for i, n := range found {
		ms[i] = im.Mappings[n]
	}
	return ms
}

// covering appends the numbers of such mappings.
func (x *index) covering(addr uint64, found []int) []int {
	i := sort.Search(len(x.byStart), func(i int) bool { return x.im.Mappings[x.byStart[i]].Address > addr })
	for i--; i >= 0 && x.maxEnd[i] > addr; i-- {
		if x.im.Mappings[x.byStart[i]].End() > addr {
			found = append(found, x.byStart[i])
		}
	}
	return found
}
