package unwind

import (
	"stackmill/schema"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// Frame is one frame of a stack on its way through the rules. Stacks are leaf first.
type Frame struct {
	Location program.LocationNo
	Rule     schema.Rule
	Part     stacktree.Part
	traits   traits // of the location, 0 if they were not looked up for the frame
	// Word is the number of the word in its part that the frame was recorded as, from
	// the leaf; none if a rule put it in.
	Word int32
	// Place is the frame's place in machine mode, of which the other modes are made;
	// none if it has none there.
	Place int32
}

// none is where a frame has no word or no place.
const none = -1

// putIn returns a frame that a rule put in.
func putIn(location program.LocationNo, rule schema.Rule) Frame {
	return Frame{Location: location, Rule: rule, Word: none, Place: none}
}
