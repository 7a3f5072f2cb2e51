// Package attribute turns sums of samples by recorded stack into exclusive, inclusive and
// attributed values of functions, lines, PCs and call trees, in each mode. Its input is the
// program, the tree of stacks, and for each recorded stack and metric a value and a number of
// samples.
//
// Start reading with NewCallTree (calltree.go), which merges stacks; valuerows.go emits the rows.
package attribute

import (
	"stackmill/internal/prefixtree"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// RecordedStack is a row of recorded_stacks: a stack of a process, during the time in which its
// addresses mean the same code.
type RecordedStack struct {
	program.Life
	Process       int32
	Path          stacktree.PathNo
	stacktree.End                 // set once all stacks are in the tree
	Reason        ReasonNo        // set with End
	First         RecordedStackNo // the first recorded stack with the same words
	Form          int32           // how it was recorded: an index in samples.StackIndex.Forms; None if there is no stack
}

// RecordedStackNo is the index of a recorded stack in Stacks.Recorded.
type RecordedStackNo int32

// ReasonNo is the index of a reason in Stacks.Reasons.
type ReasonNo int32

// Stacks holds the recorded stacks that samples refer to, and their tree.
type Stacks struct {
	Recorded []RecordedStack
	Tree     *stacktree.Tree // until Renumber
	Reasons  []string        // why stacks are empty or cut; the first is empty

	// The tree's nodes and frames in their final order: OrderNodes, OrderFrames and Renumber set
	// them.
	Nodes  prefixtree.PreOrder[stacktree.NodeNo, stacktree.FrameNo]
	Frames []stacktree.Frame
}

// NewStacks returns an empty Stacks.
func NewStacks() *Stacks { return &Stacks{Tree: stacktree.NewTree(), Reasons: []string{""}} }
