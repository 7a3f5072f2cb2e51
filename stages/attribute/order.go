package attribute

import (
	"runtime"

	"stackmill/internal/chunked"
	"stackmill/internal/ordered"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// OrderNodes begins to put the nodes in pre-order, as they are stored, and returns the numbers
// that they get.
func (s *Stacks) OrderNodes() (number []stacktree.NodeNo) {
	s.Nodes, number = s.Tree.Number()
	return number
}

// OrderFrames puts the frames in the order of locations, as they are stored, and returns the
// numbers that they get. locations are the new numbers of locations by those that frames have.
// It may run beside OrderNodes and Place.
func (s *Stacks) OrderFrames(locations []program.LocationNo) (number []stacktree.FrameNo) {
	s.Frames, number = orderFrames(&s.Tree.Frames, locations)
	return number
}

// renumberedEach is how many nodes a processor renumbers at least.
const renumberedEach = 1 << 14

// Renumber gives nodes and recorded stacks the new numbers of nodes and frames, on all
// processors. It drops the tree, so that no stack can be added afterwards.
func (s *Stacks) Renumber(nodes []stacktree.NodeNo, frames []stacktree.FrameNo) {
	parts := min(runtime.GOMAXPROCS(0), 1+s.Tree.Len()/renumberedEach)
	ordered.Each(parts, parts, func(_, part int, _ *struct{}) {
		of := func(n int) (from, until int) { return n * part / parts, n * (part + 1) / parts }
		from, until := of(s.Tree.Len())
		s.Tree.Fill(&s.Nodes, nodes, frames, from, until)
		from, until = of(len(s.Recorded))
		for i := range s.Recorded[from:until] {
			r := &s.Recorded[from+i]
			r.Node = nodes[r.Node]
			for m, leaf := range r.Leaf {
				r.Leaf[m] = nodes[leaf]
			}
		}
	}, func(*struct{}) bool { return true })
	s.Tree = nil
}

// orderFrames returns frames in the order of their locations and words, after the root's, and
// their new numbers.
func orderFrames(frames *chunked.List[stacktree.Frame], locations []program.LocationNo) ([]stacktree.Frame, []stacktree.FrameNo) {
	list := make([]chunked.Keyed, frames.Len()-1) // all but the root's
	for n := range frames.Len() {
		f := frames.At(n)
		renumber(&f.Own, locations)
		for m := range f.Shown {
			renumber(&f.Shown[m], locations)
		}
		if n > 0 {
			list[n-1] = chunked.Keyed{Key: f.Word, N: int32(n)}
		}
	}
	list = chunked.Sort(list)
	for i := range list {
		list[i].Key = uint64(frameAt(frames.At(int(list[i].N))) + 1)
	}
	ordered, number := make([]stacktree.Frame, frames.Len()), make([]stacktree.FrameNo, frames.Len())
	ordered[0] = *frames.At(0)
	for i, k := range chunked.Sort(list) {
		ordered[i+1], number[k.N] = *frames.At(int(k.N)), stacktree.FrameNo(i+1)
	}
	return ordered, number
}

// frameAt is what a frame means by itself or, if it means nothing, what machine mode shows.
func frameAt(f *stacktree.Frame) program.LocationNo {
	if f.Own >= 0 {
		return f.Own
	}
	return f.Shown[stacktree.Machine]
}

// renumber replaces a location by the number that it has now.
func renumber(l *program.LocationNo, numbers []program.LocationNo) {
	if *l >= 0 {
		*l = numbers[*l]
	}
}
