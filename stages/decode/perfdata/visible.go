package perfdata

import (
	"slices"

	"stackmill/stages/decode"
)

// visible returns the mappings that later ones do not hide entirely. The end of a
// mapping is not recorded.
func visible(live []decode.MapEvent) []decode.MapEvent {
	h := newHidden(live)
	var kept []decode.MapEvent
	for _, m := range slices.Backward(live) {
		if h.hide(m.Address, m.Address+m.Size) {
			kept = append(kept, m)
		}
	}
	slices.Reverse(kept)
	return kept
}

// hidden says which addresses were hidden so far: the ranges between the bounds of all
// mappings, where each leads to the next that may not be hidden.
type hidden struct {
	bounds []uint64 // sorted, distinct
	next   []int32
}

func newHidden(live []decode.MapEvent) *hidden {
	h := &hidden{bounds: make([]uint64, 0, 2*len(live))}
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

// hide hides the addresses from start to end, two of the bounds, and reports whether any
// of them was not hidden before.
func (h *hidden) hide(start, end uint64) (any bool) {
	from, _ := slices.BinarySearch(h.bounds, start)
	to, _ := slices.BinarySearch(h.bounds, end)
	for i := h.open(int32(from)); int(i) < to; i = h.open(i) {
		any = true
		h.next[i] = i + 1
	}
	return any
}

// open returns the first range from one on that is not hidden.
func (h *hidden) open(i int32) int32 {
	first := i
	for h.next[i] != i {
		i = h.next[i]
	}
	for h.next[first] != i {
		first, h.next[first] = h.next[first], i
	}
	return i
}
