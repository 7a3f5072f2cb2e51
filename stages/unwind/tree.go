// Package unwind turns recorded stacks into normalised ones, by the rules of
// the manual. One file holds one rule.
package unwind

import (
	"stackmill/schema"
	"stackmill/stages/arena"
	"stackmill/stages/symbolize"
	"stackmill/stages/tree"
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
	tree.Tree[NodeNo, FrameNo]
	frameList
	Ends    arena.List[End] // by path
	plain   []FrameNo       // by plainFrame
	settled []NodeNo        // by word of the process whose paths are added now
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

// TreeFrame is a frame as nodes have it: what was recorded, and what the rules made of
// it.
type TreeFrame struct { // 32 bytes without gaps, so that it is compared at once
	Word uint64               // the PC or marker; of a Java frame the method's id
	Own  symbolize.LocationNo // what the word means by itself, None for markers and without a word
	BCI  int32                // of a Java frame
	// Shown is what each mode shows, None if it does not show the frame.
	Shown [Modes]symbolize.LocationNo
	Rules [Modes]schema.Rule // that put it in, changed or dropped it
	Part  Part
}

// hidden returns a frame that no mode shows.
func hidden() TreeFrame {
	return TreeFrame{Own: symbolize.None, Shown: shownInNone}
}

// shownInNone is TreeFrame.Shown of such a frame.
var shownInNone = [Modes]symbolize.LocationNo{symbolize.None, symbolize.None, symbolize.None}

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
	return &Tree{Tree: tree.New[NodeNo, FrameNo](0), frameList: newFrameList()}
}

// Add returns the node of a frame above a node, which is new if need be.
func (t *Tree) Add(parent NodeNo, f *TreeFrame) NodeNo {
	node, _ := t.Child(parent, t.number(f))
	return node
}
