// Package stacktree has the tree of recorded stacks: merged from their roots, with what each
// mode of the manual shows of them.
package stacktree

import (
	"stackmill/internal/chunked"
	"stackmill/internal/prefixtree"
	"stackmill/schema"
	"stackmill/stages/program"
)

// Mode is one of the manual's representations of a stack.
type Mode uint8

// The modes.
const (
	User Mode = iota
	Expert
	Machine
	Modes // how many there are
)

// NodeNo is the number of a node of a Tree: 0 is the root, which is no frame.
type NodeNo int32

// Root is the leaf of the stack without frames.
const Root NodeNo = 0

// FrameNo is the number of a frame of a Tree: its index in Tree.Frames.
type FrameNo int32

// Tree holds the stacks of a recording, merged from their roots. A path from a node to
// the root is a recorded stack together with what each mode shows of it.
type Tree struct {
	prefixtree.Tree[NodeNo, FrameNo]
	frameList
	Ends chunked.List[End] // by path
}

// PathNo is the number of a recorded stack's path, in the order in which they are
// added: its index in Tree.Ends.
type PathNo int32

// End is where a path ends.
type End struct {
	Node NodeNo        // the path to it is the recorded stack
	Leaf [Modes]NodeNo // its leaf in each mode: the node itself or one on the path to it
	// CutOff says why the stack ends before its thread's start.
	CutOff Cut
	Empty  bool // machine mode shows no frame
}

// Cut is a reason why a stack ends before its thread's start that the recording does not
// give itself.
type Cut uint8

// The reasons.
const (
	NotCut      Cut = iota // it does not, or the recording says why
	CutLeafOnly            // no callers were recorded, because none were asked for
	CutNoStart             // the outermost frame is not one that threads begin with
)

// Frame is a frame as nodes have it: what was recorded, and what the rules made of
// it.
type Frame struct { // 32 bytes without gaps, so that it is compared at once
	Word uint64             // the PC or marker; of a Java frame the method's id
	Own  program.LocationNo // what the word means by itself, None for markers and without a word
	BCI  int32              // of a Java frame
	// Shown is what each mode shows, None if it does not show the frame.
	Shown [Modes]program.LocationNo
	Rules [Modes]schema.Rule // that put it in, changed or dropped it
	Part  Part
}

// NewFrame returns a frame that no mode shows.
func NewFrame() Frame {
	return Frame{Own: program.None, Shown: shownInNone}
}

// shownInNone is Frame.Shown of such a frame.
var shownInNone = [Modes]program.LocationNo{program.None, program.None, program.None}

// Part is where a frame was recorded.
type Part uint8

// The parts.
const (
	PutIn Part = iota // nowhere: a rule put it in
	Native
	Java
	OpenMP
)

// NewTree returns a tree without stacks.
func NewTree() *Tree {
	return &Tree{Tree: prefixtree.New[NodeNo, FrameNo](0), frameList: newFrameList()}
}

// Add returns the node of a frame above a node, which is new if need be.
func (t *Tree) Add(parent NodeNo, f *Frame) NodeNo {
	node, _ := t.Child(parent, t.Intern(f))
	return node
}
