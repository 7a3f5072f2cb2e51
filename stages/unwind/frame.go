package unwind

import (
	"stackmill/schema"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// Frame is one frame of a stack that passes the rules. Stacks are leaf first.
type Frame struct {
	Location program.LocationNo
	Rule     schema.Rule
	Part     stacktree.Part
	traits   traits // of the location, 0 until they are looked up
	// Word is the index of the recorded word in its part, from the leaf; none if a rule
	// inserted the frame.
	Word int32
	// MachineIndex is the frame's index in machine mode; none for frames that it lacks.
	MachineIndex int32
}

// none is the index of a word or frame that does not exist.
const none = -1

// insertedFrame returns a frame that was not recorded: a rule inserts it.
func insertedFrame(location program.LocationNo, rule schema.Rule) Frame {
	return Frame{Location: location, Rule: rule, Word: none, MachineIndex: none}
}
