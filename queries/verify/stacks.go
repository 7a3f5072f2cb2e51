package verify

import (
	"errors"

	"stackmill/schema"
)

// stacks are the recorded stacks.
type stacks struct {
	leaf   [modes][]int32 // by stack: the node of its leaf; 0 if it is empty
	value  [][]int64      // by metric and stack
	counts [][]int64      // of samples, by metric and stack
}

// checkStacks checks that stacks have their leaves in all modes.
func (x *experiment) checkStacks() error {
	t := schema.RecordedStacks
	if !dense(x.col(t, "stack")) {
		return errors.New("recorded_stacks: not numbered")
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

// hasLocated reports whether a path has a frame at a known instruction.
func (x *experiment) hasLocated(node int32) bool {
	for ; node > 0; node = x.tree.parent[node] {
		if x.tree.located[x.tree.frame[node]] {
			return true
		}
	}
	return false
}

// checkIDs checks that stacks with the same identifier have the same leaf and depth, in all modes.
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
				return errors.New("stacks: different ones have one identifier")
			}
			ends[ids[leaf]] = e
		}
	}
	return nil
}
