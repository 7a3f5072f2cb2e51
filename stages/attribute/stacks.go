// Package attribute turns sums of samples per recorded stack into exclusive, inclusive and
// attributed values of what the modes show of the stacks. It needs the program, the tree of
// stacks and one list (stack, metric, value, samples), wherever they come from.
package attribute

import (
	"stackmill/internal/prefixtree"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// Recorded is a row of recorded_stacks: one recorded stack of a process while it
// means the same.
type Recorded struct {
	program.Life
	Process       int32
	Path          stacktree.PathNo
	stacktree.End            // once the tree has grown (Stacks.Place)
	Reason        ReasonNo   // likewise
	First         RecordedNo // the first one of the same words
	Form          int32      // how it was recorded: its index in Stacks.Forms, None without a stack
}

// RecordedNo is the number of a Recorded: its index in Stacks.Recorded.
type RecordedNo int32

// ReasonNo is the number of a reason: its index in Stacks.Reasons.
type ReasonNo int32

// Stacks numbers the recorded stacks that samples refer to.
type Stacks struct {
	Recorded []Recorded
	Tree     *stacktree.Tree // nil once they are in order
	Reasons  []string        // why stacks are empty or cut; the first is empty

	Nodes  prefixtree.Ordered[stacktree.NodeNo, stacktree.FrameNo] // of Order, as the next
	Frames []stacktree.Frame
}

// NewStacks returns an empty list.
func NewStacks() *Stacks { return &Stacks{Tree: stacktree.NewTree(), Reasons: []string{""}} }
