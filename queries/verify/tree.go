package verify

import (
	"errors"

	"stackmill/schema"
)

// modes is the number of representations: user, expert and machine.
const modes = 3

// tree is the tree of stacks, from the tables stack_tree and tree_frames.
type tree struct {
	parent, last []int32 // by node
	frame        []int32
	shown        [modes][]int32 // by frame: the location that the mode shows; -1 if none
	depth        [modes][]int32 // by node
	located      []bool         // by frame: whether it was recorded at a known instruction
}

// checkFrames checks that the locations of frames are known.
func (x *experiment) checkFrames() error {
	t := schema.TreeFrames
	if !dense(x.col(t, "frame")) {
		return errors.New("tree_frames: rows are not numbered 0, 1, 2 in order")
	}
	n := x.len(t)
	part, noWord, word := x.col(t, "part"), x.missing(t, "word"), x.col(t, "word")
	location, noLocation := x.col(t, "location"), x.missing(t, "location")
	x.tree.located = make([]bool, n)
	for i := range n {
		if noWord[i] != (part[i] == none) || !knownParts[part[i]] {
			return errors.New("tree_frames: the part of a frame is unknown, or does not fit its word")
		}
		marker := word[i] >= -4 && word[i] <= -1
		if !noWord[i] && noLocation[i] != marker || !noLocation[i] && !x.known(location[i]) {
			return errors.New("tree_frames: a location is wrong")
		}
		x.tree.located[i] = !noLocation[i]
	}
	for m, name := range []string{"user_location", "expert_location", "machine_location"} {
		if err := x.showFrames(m, name); err != nil {
			return err
		}
	}
	for i := range n {
		bare := noWord[i]
		for m := range modes {
			bare = bare && x.tree.shown[m][i] < 0
		}
		if bare != (i == 0) {
			return errors.New("tree_frames: a frame has neither a word nor a location, or the root's has one")
		}
	}
	return nil
}

func (x *experiment) known(location int64) bool {
	return location >= 0 && location < int64(len(x.location))
}

// showFrames sets the location that mode m shows for each frame; name is the column that has it.
func (x *experiment) showFrames(m int, name string) error {
	t := schema.TreeFrames
	locations, missing := x.col(t, name), x.missing(t, name)
	shown := make([]int32, len(locations))
	for i := range shown {
		switch {
		case missing[i]:
			shown[i] = -1
		case !x.known(locations[i]):
			return errors.New("tree_frames: an instruction is unknown")
		default:
			shown[i] = int32(locations[i])
		}
	}
	x.tree.shown[m] = shown
	return nil
}

// checkTree checks that nodes are numbered in preorder, and that their frames are known.
func (x *experiment) checkTree() (err error) {
	t := schema.StackTree
	x.tree.parent, x.tree.last, err = nested(x.col(t, "node"), x.col(t, "up"), x.col(t, "below"))
	if err != nil {
		return err
	}
	frames := x.col(t, "frame")
	used := make([]bool, x.len(schema.TreeFrames))
	x.tree.frame = make([]int32, len(frames))
	for i, f := range frames {
		if f < 0 || f >= int64(len(used)) || (i == 0) != (f == 0) {
			return errors.New("stack_tree: a frame is wrong")
		}
		used[f] = true
		x.tree.frame[i] = int32(f)
	}
	for _, u := range used {
		if !u {
			return errors.New("tree_frames: a frame is unused")
		}
	}
	for m := range modes {
		depth := make([]int32, len(frames))
		for i := range depth {
			if i > 0 {
				depth[i] = depth[x.tree.parent[i]]
			}
			if x.tree.shown[m][frames[i]] >= 0 {
				depth[i]++
			}
		}
		x.tree.depth[m] = depth
	}
	return nil
}

// nested checks that nodes are numbered in preorder, from 0 for the root.
func nested(node, up, below []int64) (parent, last []int32, err error) {
	if !dense(node) {
		return nil, nil, errors.New("a tree's nodes are not numbered 0, 1, 2 in order")
	}
	n := len(node)
	parent, last = make([]int32, n), make([]int32, n)
	found := make([]int64, n)
	for i := range n {
		if (i == 0) != (up[i] == 0) || up[i] < 0 || up[i] > int64(i) || below[i] < 0 || below[i] >= int64(n-i) {
			return nil, nil, errors.New("a tree's node has an impossible parent or number of descendants")
		}
		parent[i], last[i] = int32(i)-int32(up[i]), int32(i)+int32(below[i])
		if i > 0 && last[i] > last[parent[i]] {
			return nil, nil, errors.New("a tree's node has descendants outside of its parent's subtree")
		}
	}
	for i := n - 1; i >= 0; i-- {
		if found[i] != below[i] {
			return nil, nil, errors.New("a tree's node has a wrong number of descendants")
		}
		if i > 0 {
			found[parent[i]] += found[i] + 1
		}
	}
	return parent, last, nil
}

type stacks struct {
	leaf   [modes][]int32 // by stack: the node of its leaf; 0 for an empty stack
	value  [][]int64      // [metric][stack]: the metric's value
	counts [][]int64      // [metric][stack]: number of samples
}

// checkStacks checks that each recorded stack has the right leaf in each mode.
func (x *experiment) checkStacks() error {
	t := schema.RecordedStacks
	if !dense(x.col(t, "stack")) {
		return errors.New("recorded_stacks: rows are not numbered 0, 1, 2 in order")
	}
	node, nodes := x.col(t, "node"), int64(len(x.tree.parent))
	for _, n := range node {
		if n < 0 || n >= nodes {
			return errors.New("recorded_stacks: a node is unknown")
		}
	}
	for m, name := range []string{"user_up", "expert_up", "machine_up"} {
		up, depth := x.col(t, name), x.tree.depth[m]
		leaves := make([]int32, len(up))
		for i := range leaves {
			leaf := node[i] - up[i]
			if leaf < 0 || leaf >= nodes || depth[leaf] != depth[node[i]] || int64(x.tree.last[leaf]) < node[i] ||
				leaf > 0 && x.tree.shown[m][x.tree.frame[leaf]] < 0 {
				return errors.New("recorded_stacks: a leaf is wrong")
			}
			if leaf == 0 && x.hasLocated(int32(node[i])) {
				return errors.New("recorded_stacks: a rule left a stack without frames")
			}
			leaves[i] = int32(leaf)
		}
		x.stacks.leaf[m] = leaves
	}
	return x.checkIDs()
}

// hasLocated reports whether the path to a node has a frame that was recorded at a known
// instruction.
func (x *experiment) hasLocated(node int32) bool {
	for ; node > 0; node = x.tree.parent[node] {
		if x.tree.located[x.tree.frame[node]] {
			return true
		}
	}
	return false
}

// checkIDs checks that stacks with the same identifier have the same leaf and depth, in every mode.
func (x *experiment) checkIDs() error {
	type end struct{ depth, location int32 }
	ends := map[int64]end{}
	ids := make([]int64, len(x.tree.parent))
	for m, name := range []string{"user_rule", "expert_rule", "machine_rule"} {
		rules := x.col(schema.TreeFrames, name)
		for i := range ids {
			f := x.tree.frame[i]
			if i > 0 {
				ids[i] = ids[x.tree.parent[i]]
			}
			at := x.tree.shown[m][f]
			if at < 0 {
				continue
			}
			mark := x.location[at].id
			if rules[f] != 0 {
				mark = pathPart(mark, rules[f])
			}
			ids[i] = (ids[i] + pathPart(mark, int64(x.tree.depth[m][i]))) & mask63
		}
		for _, leaf := range x.stacks.leaf[m] {
			e := end{x.tree.depth[m][leaf], -1}
			if leaf > 0 {
				e.location = x.tree.shown[m][x.tree.frame[leaf]]
			}
			if known, there := ends[ids[leaf]]; there && known != e {
				return errors.New("stacks: two different stacks have the same identifier")
			}
			ends[ids[leaf]] = e
		}
	}
	return nil
}
