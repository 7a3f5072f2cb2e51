package attribute

import (
	"context"
	"runtime"

	"stackmill/internal/chunked"
	"stackmill/internal/ordered"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// OrderNodes sorts the nodes in pre-order, the order in which they are stored, and returns each old
// node's new number. Renumber fills in the parents and labels.
func (s *Stacks) OrderNodes() (number []stacktree.NodeNo) {
	s.Nodes, number = s.Tree.Number()
	return number
}

// OrderFrames sorts the frames by location, the order in which they are stored, and returns each
// old frame's new number. locations gives the new number of each old location. OrderFrames may run
// concurrently with OrderNodes.
func (s *Stacks) OrderFrames(locations []program.LocationNo) (number []stacktree.FrameNo) {
	s.Frames, number = orderFrames(&s.Tree.Frames, locations)
	return number
}

// minNodesPerWorker is the number of nodes for each goroutine that Renumber starts.
const minNodesPerWorker = 1 << 14

// Renumber applies the new numbers of nodes and frames, which OrderNodes and OrderFrames returned.
// It runs on all processors, and drops the tree: no stack can be added afterwards.
func (s *Stacks) Renumber(nodes []stacktree.NodeNo, frames []stacktree.FrameNo) {
	workers := min(runtime.GOMAXPROCS(0), 1+s.Tree.Len()/minNodesPerWorker)
	_ = ordered.ForEach(context.Background(), workers, workers, func(_ context.Context, worker int) error { // none fails
		share := func(n int) (from, until int) { return n * worker / workers, n * (worker + 1) / workers }
		from, until := share(s.Tree.Len())
		s.Tree.Fill(&s.Nodes, nodes, frames, from, until)
		from, until = share(len(s.Recorded))
		for i := range s.Recorded[from:until] {
			r := &s.Recorded[from+i]
			r.Node = nodes[r.Node]
			for m, leaf := range r.Leaf {
				r.Leaf[m] = nodes[leaf]
			}
		}
		return nil
	})
	s.Tree = nil
}

// orderFrames returns the root's frame, then the others sorted by location and word, and their new
// numbers.
func orderFrames(frames *chunked.List[stacktree.Frame], locations []program.LocationNo) ([]stacktree.Frame, []stacktree.FrameNo) {
	list := make([]chunked.KeyedIndex, frames.Len()-1) // all but the root's
	for n := range frames.Len() {
		f := frames.At(n)
		renumber(&f.Own, locations)
		for m := range f.Shown {
			renumber(&f.Shown[m], locations)
		}
		if n > 0 {
			list[n-1] = chunked.KeyedIndex{Key: f.Word, N: int32(n)}
		}
	}
	list = chunked.Sort(list)
	for i := range list {
		list[i].Key = uint64(frameLocation(frames.At(int(list[i].N))) + 1)
	}
	ordered, number := make([]stacktree.Frame, frames.Len()), make([]stacktree.FrameNo, frames.Len())
	ordered[0] = *frames.At(0)
	for i, k := range chunked.Sort(list) {
		ordered[i+1], number[k.N] = *frames.At(int(k.N)), stacktree.FrameNo(i+1)
	}
	return ordered, number
}

// frameLocation returns a frame's recorded location or, if it has none, the one that machine mode
// shows.
func frameLocation(f *stacktree.Frame) program.LocationNo {
	if f.Own >= 0 {
		return f.Own
	}
	return f.Shown[stacktree.Machine]
}

// renumber replaces the number of a location, unless it is None.
func renumber(l *program.LocationNo, numbers []program.LocationNo) {
	if *l >= 0 {
		*l = numbers[*l]
	}
}
