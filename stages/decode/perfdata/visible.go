package perfdata

import (
	"slices"

	"stackmill/stages/decode"
)

// visible returns the mappings that later ones do not hide entirely. perf does not record the end
// of a mapping.
func visible(live []decode.MapEvent) []decode.MapEvent {
	h := newCoveredRanges(live)
	var kept []decode.MapEvent
	for _, m := range slices.Backward(live) {
		if h.cover(m.Address, m.Address+m.Size) {
			kept = append(kept, m)
		}
	}
	slices.Reverse(kept)
	return kept
}

// coveredRanges tracks which address ranges are covered: between the bounds of all mappings, each
// range links to the next that may be uncovered.
type coveredRanges struct {
	bounds []uint64 // sorted, distinct
	next   []int32
}

func newCoveredRanges(live []decode.MapEvent) *coveredRanges {
	h := &coveredRanges{bounds: make([]uint64, 0, 2*len(live))}
	for i := range live {
		h.bounds = append(h.bounds, live[i].Address, live[i].Address+live[i].Size)
	}
	slices.Sort(h.bounds)
	h.bounds = slices.Compact(h.bounds)
	h.next = make([]int32, len(h.bounds))
	for i := range h.next {
		h.next[i] = int32(i)
	}
	return h
}

// cover covers the addresses from start to end, which are bounds, and reports whether some were
// uncovered.
func (h *coveredRanges) cover(start, end uint64) (any bool) {
	from, _ := slices.BinarySearch(h.bounds, start)
	to, _ := slices.BinarySearch(h.bounds, end)
	for i := h.open(int32(from)); int(i) < to; i = h.open(i) {
		any = true
		h.next[i] = i + 1
	}
	return any
}

// open returns the first uncovered range from an index on.
func (h *coveredRanges) open(i int32) int32 {
	first := i
	for h.next[i] != i {
		i = h.next[i]
	}
	for h.next[first] != i {
		first, h.next[first] = h.next[first], i
	}
	return i
}
