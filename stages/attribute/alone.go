package attribute

import (
	"stackmill/stages/program"
)

// findAlone finds in which modes nodes are alone: no other node is of the function, so that
// its values are the node's; nor is one of the caller's function below, so that they are
// also what is attributed to the caller, and to the callee. The root is never alone.
func (t *CallTree) findAlone() {
	t.alone = make([]Mode, t.Len())
	again := t.callersAgain()
	only := make([]nodeNo, len(t.program.Functions)) // by function: its node, 0 for none, None for several
	for view := range t.Views {
		clear(only)
		for n, used := range t.used(view) {
			if n == 0 || !used {
				continue
			}
			if of := &only[t.Label[n]]; *of == 0 {
				*of = nodeNo(n)
			} else {
				*of = program.None
			}
		}
		for _, n := range only {
			if n > 0 && !again[n] {
				t.alone[n] |= t.Views[view].modes
			}
		}
	}
}

// used tells which nodes stacks that count pass in a view.
func (t *CallTree) used(view int) []bool {
	used := make([]bool, t.Len())
	for i := range t.ends.nodes {
		used[t.end(i)[view]] = true
	}
	for n := t.Len() - 1; n > 0; n-- {
		if used[n] {
			used[t.Parent[n]] = true
		}
	}
	return used
}

// callersAgain tells which nodes have one of their caller's function below them.
func (t *CallTree) callersAgain() []bool {
	again, path := make([]bool, t.Len()), newPath(len(t.program.Functions))
	for n := nodeNo(1); int(n) < t.Len(); n++ {
		if above := path.enter(n, t.Last(n), t.Label[n]); above >= 0 {
			again[path.steps[above+1].node] = true
		}
	}
	return again
}

// alonePairs returns, by pair, the modes in which a node of it is alone.
func (t *CallTree) alonePairs() []Mode {
	pairs := make([]Mode, len(t.Pairs))
	for n := 1; n < t.Len(); n++ {
		pairs[t.pair[n]] |= t.alone[n]
	}
	return pairs
}
