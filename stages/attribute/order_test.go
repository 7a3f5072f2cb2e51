package attribute

import (
	"slices"
	"testing"

	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// asTheyAre returns the numbers that locations have already.
func asTheyAre(p *symbolize.Program) []symbolize.LocationNo {
	numbers := make([]symbolize.LocationNo, p.Locations.Len())
	for n := range numbers {
		numbers[n] = symbolize.LocationNo(n)
	}
	return numbers
}

// Frames stand in the order of their locations' new numbers, those without one first,
// and nodes refer to the same frames as before.
func TestOrder(t *testing.T) {
	s := NewStacks()
	words := []uint64{30, 10, 20, 21}
	node := unwind.Root
	for i, word := range words {
		at := symbolize.LocationNo(min(i, 2))
		node = s.Tree.Add(node, &unwind.TreeFrame{Word: word, Own: at, Shown: [unwind.Modes]symbolize.LocationNo{at, symbolize.None, at}, Part: unwind.Native})
	}
	s.Tree.Add(node, &unwind.TreeFrame{Word: 99, Own: symbolize.None, Shown: [unwind.Modes]symbolize.LocationNo{symbolize.None, symbolize.None, symbolize.None}, Part: unwind.Native})
	s.Renumber(s.OrderNodes(), s.OrderFrames([]symbolize.LocationNo{2, 0, 1}))
	var got, own []int
	for _, f := range s.Frames {
		got, own = append(got, int(f.Word)), append(own, int(f.Own))
	}
	if want := []int{0, 99, 10, 20, 21, 30}; !slices.Equal(got, want) {
		t.Errorf("frames %d, want %d", got, want)
	}
	if want := []int{-1, -1, 0, 1, 1, 2}; !slices.Equal(own, want) {
		t.Errorf("their locations %d, want %d", own, want)
	}
	for i, word := range words {
		if f := s.Frames[s.Nodes.Label[i+1]]; f.Word != word || f.Shown[unwind.User] != f.Own || f.Shown[unwind.Expert] != symbolize.None {
			t.Errorf("node %d has the frame %+v", i+1, f)
		}
	}
}
