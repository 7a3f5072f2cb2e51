package attribute

import (
	"slices"
	"testing"

	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// asTheyAre maps each location number to itself.
func asTheyAre(p *program.Program) []program.LocationNo {
	numbers := make([]program.LocationNo, p.Locations.Len())
	for n := range numbers {
		numbers[n] = program.LocationNo(n)
	}
	return numbers
}

// Frames are sorted by the new numbers of their locations, frames without a location first, and
// nodes refer to the same frames as before.
func TestOrder(t *testing.T) {
	s := NewStacks()
	words := []uint64{30, 10, 20, 21}
	node := stacktree.Root
	for i, word := range words {
		at := program.LocationNo(min(i, 2))
		node = s.Tree.Add(node, &stacktree.Frame{Word: word, Own: at, Shown: [stacktree.Modes]program.LocationNo{at, program.None, at}, Part: stacktree.Native})
	}
	s.Tree.Add(node, &stacktree.Frame{Word: 99, Own: program.None, Shown: [stacktree.Modes]program.LocationNo{program.None, program.None, program.None}, Part: stacktree.Native})
	s.Renumber(s.OrderNodes(), s.OrderFrames([]program.LocationNo{2, 0, 1}))
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
		if f := s.Frames[s.Nodes.Label[i+1]]; f.Word != word || f.Shown[stacktree.User] != f.Own || f.Shown[stacktree.Expert] != program.None {
			t.Errorf("node %d has the frame %+v", i+1, f)
		}
	}
}
