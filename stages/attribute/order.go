package attribute

import (
	"stackmill/stages/arena"
	"stackmill/stages/symbolize"
	"stackmill/stages/tree"
	"stackmill/stages/unwind"
)

// OrderNodes numbers nodes in pre-order, as they are stored.
func (s *Stacks) OrderNodes() {
	var number []unwind.NodeNo
	s.Nodes, number = s.Tree.Order()
	for i := range s.Recorded {
		r := &s.Recorded[i]
		r.Node = number[r.Node]
		for m, leaf := range r.Leaf {
			r.Leaf[m] = number[leaf]
		}
	}
}

// OrderFrames numbers frames in the order of locations, as they are stored, once nodes are
// in order. It drops the tree, so that no stack can be added afterwards. locations are the
// new numbers of locations by those that frames have.
func (s *Stacks) OrderFrames(locations []symbolize.LocationNo) {
	s.Frames, s.Tree = orderFrames(s.Tree.Frames, locations, &s.Nodes), nil
}

// orderFrames returns frames in the order of their locations and words, after the root's.
// Nodes get their new numbers.
func orderFrames(frames []unwind.TreeFrame, locations []symbolize.LocationNo, nodes *tree.Ordered[unwind.NodeNo, unwind.FrameNo]) []unwind.TreeFrame {
	list := make([]arena.Keyed, len(frames)-1) // all but the root's
	for n := range frames {
		f := &frames[n]
		renumber(&f.Own, locations)
		for m := range f.Shown {
			renumber(&f.Shown[m], locations)
		}
		if n > 0 {
			list[n-1] = arena.Keyed{Key: f.Word, N: int32(n)}
		}
	}
	list = arena.Sort(list)
	for i := range list {
		list[i].Key = uint64(frameAt(&frames[list[i].N]) + 1)
	}
	ordered, number := make([]unwind.TreeFrame, len(frames)), make([]unwind.FrameNo, len(frames))
	ordered[0] = frames[0]
	for i, k := range arena.Sort(list) {
		ordered[i+1], number[k.N] = frames[k.N], unwind.FrameNo(i+1)
	}
	for n, before := range nodes.Label {
		nodes.Label[n] = number[before]
	}
	return ordered
}

// frameAt is what a frame means by itself or, if it means nothing, what machine mode shows.
func frameAt(f *unwind.TreeFrame) symbolize.LocationNo {
	if f.Own >= 0 {
		return f.Own
	}
	return f.Shown[unwind.Machine]
}

// renumber replaces a location by the number that it has now.
func renumber(l *symbolize.LocationNo, numbers []symbolize.LocationNo) {
	if *l >= 0 {
		*l = numbers[*l]
	}
}
