// Package stacktree holds the tree of recorded stacks, which merges stacks from their roots as far
// as they are equal. Each frame has what each of the manual's modes shows for it.
package stacktree

import (
	"stackmill/internal/chunked"
	"stackmill/internal/memo"
	"stackmill/internal/prefixtree"
	"stackmill/schema"
	"stackmill/stages/program"
)

// Mode is one of the manual's representations of a stack: what a reader of a report sees.
type Mode uint8

// The manual's modes.
const (
	User Mode = iota
	Expert
	Machine
	Modes // the number of modes
)

// NodeNo is the number of a node of a Tree. 0 is the root, which has no frame.
type NodeNo int32

// Root is the root node; stacks without frames end at it.
const Root NodeNo = 0

// FrameNo is the index of a frame in Tree.Frames.
type FrameNo int32

// Tree holds the stacks of a recording. Stacks share the nodes of their common frames at the root.
// The path from the root to a node is a recorded stack; its frames have what each mode shows.
type Tree struct {
	prefixtree.Tree[NodeNo, FrameNo]
	Frames  chunked.List[Frame] // indexed by FrameNo; the first is the root's
	Ends    chunked.List[End]   // indexed by PathNo
	numbers map[Frame]FrameNo
}

// PathNo is the number of a recorded stack's path in order of adding, an index in Tree.Ends.
type PathNo int32

// End says where the path of a recorded stack ends: at which node, and at which leaf in each mode.
type End struct {
	Node   NodeNo        // the recorded stack is the path from the root to it
	Leaf   [Modes]NodeNo // by mode: the last node on the path that the mode shows
	CutOff Cut
	Empty  bool // machine mode shows no frame
}

// Cut is a reason why a stack ends before its thread's start, used if the recording gives no
// reason.
type Cut uint8

// The reasons why a stack may end early.
const (
	NotCut      Cut = iota // the stack is complete, or the recording gives a reason
	CutLeafOnly            // the recorder was set to record no callers
	CutNoStart             // the outermost function is not one in which threads begin
	CutInStart             // the C library calls the outermost function in a new thread, so only the library's frames are missing
)

// Frame is the label of a node: a recorded word, and what the modes show for it.
type Frame struct { // 32 bytes without padding: compared as one block
	Word uint64             // the PC or marker; of a Java frame the method's id
	Own  program.LocationNo // the word's location as recorded; None for markers and inserted frames
	BCI  int32              // in a Java frame: the index of the bytecode
	// Shown is the location in each mode, None if the mode does not show the frame.
	Shown [Modes]program.LocationNo
	Rules [Modes]schema.Rule // the rule that inserted, changed or dropped the frame in each mode
	Part  Part
}

// NewFrame returns a frame that no mode shows.
func NewFrame() Frame {
	return Frame{Own: program.None, Shown: [Modes]program.LocationNo{program.None, program.None, program.None}}
}

// Part is the part of a recorded stack from which a frame comes.
type Part uint8

// The parts of a recorded stack.
const (
	Inserted Part = iota // not recorded: a rule inserted the frame
	Native
	Java
	OpenMP
)

// NewTree returns a tree without stacks.
func NewTree() *Tree {
	t := &Tree{Tree: prefixtree.New[NodeNo, FrameNo](0), numbers: map[Frame]FrameNo{}}
	root := NewFrame()
	t.Intern(&root)
	return t
}

// Intern returns the number of a frame. It adds new ones.
func (t *Tree) Intern(f *Frame) FrameNo {
	return memo.Get(t.numbers, *f, func() FrameNo {
		t.Frames.Add(*f)
		return FrameNo(t.Frames.Len() - 1)
	})
}

// Add returns the child of a node that has frame f, and creates it if necessary.
func (t *Tree) Add(parent NodeNo, f *Frame) NodeNo {
	node, _ := t.Child(parent, t.Intern(f))
	return node
}
